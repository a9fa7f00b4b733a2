import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-sdk-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function closedPort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    }),
  )
}

test('the packed SDK installs offline in an empty project and runs there', async () => {
  const script: string = '../../../scripts/ensure.mjs'
  const { packSdk } = await import(script)
  const file: string = packSdk(folder)
  const inFolder = { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' } as const
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', file], inFolder)
  writeFileSync(
    join(folder, 'program.js'),
    `import { Keyward, KeywardNetworkError } from '@keyward/sdk'
const publicKeys = [{ kty: 'OKP', crv: 'Ed25519', kid: 'k', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' }]
const keyward = new Keyward({
  baseUrl: 'http://127.0.0.1:${await closedPort()}', appId: 'k3yw4rd1', secret: 's', publicKeys, version: '1.0.0', timeoutMs: 30_000,
})
const error = await keyward.license('KEY').catch((error) => error)
console.log(error instanceof KeywardNetworkError, error.code)
`,
  )
  const output = execFileSync(process.execPath, ['program.js'], inFolder)
  expect(output.trim()).toBe('true unreachable')
})

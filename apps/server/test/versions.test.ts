import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runKeywardInHost } from './command-line.ts'
import { copyMigratedFile } from './migrated.ts'
import { callOver, startProcess } from './server-process.ts'

const manifest = new URL('../../../package.json', import.meta.url)
const { version } = JSON.parse(readFileSync(manifest, 'utf8'))

test('a start, the command line, the API, its pages and a backup show the version of package.json', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyward-version-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const environment = { DATA_DIR: join(folder, 'data') }
  await copyMigratedFile(environment.DATA_DIR)
  const server = await startProcess(environment)
  onTestFinished(() => void server.end('SIGKILL'))
  const page = async (path: string) => (await fetch(server.url + path)).text()

  expect(server.output()).toContain(`  version   ${version}\n`)
  expect((await callOver(server.url, 'GET', '/config')).json.data.version).toBe(version)
  expect((await callOver(server.url, 'GET', '/openapi.json')).json.info.version).toBe(version)
  expect(await page('/docs')).toContain(`API reference ${version}`)
  expect(await page('/sdk/')).toContain(`Keyward ${version}`)
  expect((await runKeywardInHost(['--version'], {})).stdout).toBe(`${version}\n`)
  const file = join(folder, 'backup.tar')
  expect(await runKeywardInHost(['backup', file], environment)).toMatchObject({ code: 0 })
  const read = execFileSync('tar', ['-xOf', file, 'manifest.json'], { encoding: 'utf8' })
  expect(JSON.parse(read).keyward).toBe(version)
})

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const script = join(root, 'scripts/package.mjs')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** No Node, no npm, and none of the system's commands. */
const bare = { PATH: '/nowhere' }

test('there is no archive for a platform without one', () => {
  const build = () => execFileSync(process.execPath, [script, '--platform', 'win32-x64'], { stdio: 'pipe' })
  expect(build).toThrow(/There is no archive for win32-x64, but for linux-x64, linux-arm64, darwin-x64/)
})

describe.skipIf(process.platform === 'win32')('an archive', () => {
  let folder: string
  let content: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyward package '))
    content = join(folder, 'content')
    execFileSync(process.execPath, [script, '--folder', content], { stdio: 'pipe' })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('serves API, console and SDKs with its own runtime and nothing of the system', async () => {
    const link = join(folder, 'keyward')
    symlinkSync(join(content, 'bin/keyward'), link)
    expect(execFileSync(link, ['--version'], { encoding: 'utf8' })).toBe(`${version}\n`)
    const environment = { ...bare, PORT: '0', DATA_DIR: join(folder, 'data') }
    const server = spawn(join(content, 'bin/keyward'), ['start'], { cwd: '/', env: environment })
    const kill = () => server.kill('SIGKILL')
    process.once('exit', kill)
    let output = ''
    const url = await new Promise<string>((resolve, reject) => {
      for (const stream of [server.stdout, server.stderr])
        stream.on('data', (data) => {
          output += data
          const address = /Keyward is ready: (\S+)/.exec(output)?.[1]
          if (address) resolve(address)
        })
      server.once('exit', () => reject(new Error(`the server exited: ${output}`)))
    })
    const config = (await (await fetch(`${url}/api/config`)).json()) as { data: { version: string } }
    expect(config.data.version).toBe(version)
    const pages = { '/': '<html', '/docs': 'API', '/docs/client-protocol': 'nonce', '/sdk/': 'tgz' }
    for (const [path, text] of Object.entries(pages)) {
      const page = await fetch(`${url}${path}`)
      expect([path, page.status, (await page.text()).includes(text)]).toEqual([path, 200, true])
    }
    const body = JSON.stringify({ name: 'Vera', email: 'vera@example.com', password: 'correct horse' })
    const headers = { 'content-type': 'application/json' }
    expect((await fetch(`${url}/api/auth/register`, { method: 'POST', headers, body })).status).toBe(201)
    server.kill('SIGTERM')
    expect((await once(server, 'exit'))[0]).toBe(0)
    process.off('exit', kill)
  })

  test('lists and licenses exactly the packages in it, and has none for development', () => {
    const packages = globSync('node_modules/**/package.json', { cwd: content })
      .map((path) => /^(?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+package\.json$/.test(path) && path)
      .filter((path) => path !== false)
      .map((path) => JSON.parse(readFileSync(join(content, path), 'utf8')))
      .map(({ name, version }) => `${name}@${version}`)
      .filter((name) => !name.startsWith('@keyward/'))
    expect(packages).toContain(`fastify@${installed('fastify')}`)
    expect(packages).toContain(`pg@${installed('pg')}`)
    expect(packages.filter((name) => /^(vite|vitest|typescript|react|@types\/.*)@/.test(name))).toEqual([])
    const { components, specVersion } = JSON.parse(readFileSync(join(content, 'sbom.cdx.json'), 'utf8'))
    const listed = components.map(
      ({ name, version }: { name: string; version: string }) => `${name}@${version}`,
    )
    expect(specVersion).toBe('1.5')
    expect(packages.filter((name) => !listed.includes(name))).toEqual([])
    expect(listed).toContain(`react@${installed('react')}`)
    expect(listed).toContain(`node@${process.versions.node}`)
    const notices = readFileSync(join(content, 'THIRD-PARTY-NOTICES.txt'), 'utf8')
    expect(packages.filter((name) => !notices.includes(`\n${name.replace(/(.)@/, '$1 ')} (`))).toEqual([])
  })

  test('has no test, no key and no data', () => {
    expect(globSync('{apps,packages}/**/*.test.ts', { cwd: content })).toEqual([])
    for (const name of ['data', 'apps/server/test', 'apps/console/src', 'e2e', '.git'])
      expect([name, existsSync(join(content, name))]).toEqual([name, false])
  })
})

const installed = (name: string): string =>
  JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version

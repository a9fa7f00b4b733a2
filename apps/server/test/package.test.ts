// In the full run: it installs the production dependencies again, for each archive.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sdkVersion } from '@keyward/contract/sdk-version'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'

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
    const pages = {
      '/': '<html',
      '/docs': 'API',
      '/docs/client-protocol': 'nonce',
      '/sdk/': 'tgz',
      [`/sdk/${sdkVersion}/keyward.hpp`]: 'namespace keyward',
    }
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

const shipped = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8')

test('the settings of the Debian package are valid, and so are those that it suggests', () => {
  const settings = (pattern: RegExp): Record<string, string> =>
    Object.fromEntries(
      [...shipped('debian/keyward.env').matchAll(pattern)].map(([, name = '', value = '']) => [name, value]),
    )
  const set = readConfig(settings(/^([A-Z_]+)=(.*)$/gm))
  expect(set).toMatchObject({ dataDir: '/var/lib/keyward', host: '127.0.0.1', port: 3000 })
  const { SECRET_KEY_FILE, DATABASE_URL = '', ...suggested } = settings(/^#?([A-Z_]+)=(.*)$/gm)
  expect(SECRET_KEY_FILE).toBe('/etc/keyward/secret.key')
  expect(readConfig(suggested)).toMatchObject({ trustProxy: 1, backups: { mailTo: 'you@example.com' } })
  const moved = { ...suggested, DATABASE_URL, BACKUP_EVERY: '0', SECRET_KEY: 'k'.repeat(40) }
  expect(readConfig(moved)).toMatchObject({ databaseUrl: DATABASE_URL })
})

test.skipIf(process.platform === 'win32')('the scripts of the Debian package are valid', () => {
  for (const name of ['keyward', 'postinst', 'prerm', 'postrm']) {
    const { status, stderr } = spawnSync('sh', ['-n', join(root, 'deploy/debian', name)], {
      encoding: 'utf8',
    })
    expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' })
  }
})

const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' })
test.skipIf(analyze('--version').status !== 0)(
  'the unit is valid, and exposes less than 2 of 10 (needs systemd-analyze)',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyward-unit-'))
    const unit = join(folder, 'keyward.service')
    // It names a program that exists only where the package is installed.
    const text = shipped('systemd/keyward.service')
    const command = 'ExecStart=/usr/lib/keyward/bin/keyward start'
    expect(text).toContain(command)
    writeFileSync(unit, text.replace(command, 'ExecStart=/bin/true'))
    expect(analyze('verify', '--man=no', unit)).toMatchObject({ status: 0, stderr: '' })
    expect(analyze('security', '--offline=yes', '--threshold=20', unit)).toMatchObject({ status: 0 })
    rmSync(folder, { recursive: true })
  },
)

const installed = (name: string): string =>
  JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version

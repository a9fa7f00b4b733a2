import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signUp } from './actors.ts'
import { makeOldApp } from './compatibility-actor.ts'
import { eventually } from './eventually.ts'
import { serverForAll } from './fixtures.ts'
import { freePort } from './free-port.ts'
import { copyMigratedFile } from './migrated.ts'
import { cpp12, python12 } from './old-programs/keyed.ts'
import { type OldApp, OldProgram, type Sdk } from './old-programs/program.ts'
import { overSocket } from './old-programs/wire.ts'
import { type OldProviderHost, startOldProvider } from './old-provider.ts'
import { selfSigned } from './self-signed.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'

const guide = readFileSync(new URL('../../../docs/migration.md', import.meta.url), 'utf8')
const commands = [...guide.matchAll(/^```sh\n([\s\S]*?)^```\n/gm)].map((block) => block[1] ?? '')

const secret = '6c1c5677ee7740103a2969bbb60094bf53ad53b500f5baf80e635bc38ffd9e49'
const device = 'S-1-5-21-1004336348-1177238915-682003330-1001'
/** What the old system stored of `ring-bearer-1`. */
const password = '$2y$10$PMVE3L.XXdURnV8LirvwY.3adQybhxo9Jb77uH8n5OzEJq6y1QCRS'

let folder: string
let server: ServerProcess
let old: OldProviderHost
let call: (method: string, path: string, body?: object) => ReturnType<typeof callOver>
let values: Record<string, string>
let appId: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-guide-'))
  await copyMigratedFile(join(folder, 'data'))
  server = await startProcess({ DATA_DIR: join(folder, 'data'), PAYMENTS: 'off' })
  old = await startOldProvider('1.2', Date.now)
  const person = { name: 'Vera', email: 'vera@example.com', password: 'a good password' }
  const { token } = (await callOver(server.url, 'POST', '/auth/register', { body: person })).json.data
  call = (method, path, body) => callOver(server.url, method, path, { token, body })
  appId = (await call('POST', '/apps', { name: 'Shire' })).json.data.app._id
  const permissions = ['secrets:read', 'secrets:write', 'licenses:write', 'clients:write']
  const { key } = (await call('POST', '/api-keys', { name: 'Move', permissions })).json.data
  values = {
    'https://keys.example.com': server.url,
    'https://keyauth.win/api/1.2/': old.url,
    '6c1c…9e49': secret,
    '"name":"Shire","ownerId":"Kw3nD0rId1","secret"': `"name":"Atlas","ownerId":"Kw3nD0rId1","secret"`,
    '2027-03-31': `${new Date().getFullYear() + 1}-12-31`,
    APP_ID: appId,
    $KEYWARD_API_KEY: key,
  }
})
afterAll(async () => {
  old.close()
  await server.end('SIGTERM')
  rmSync(folder, { recursive: true })
})

const environment = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
const bash = promisify(execFile)
let shell = ''

/** Runs the next command of the guide, which has to contain this text, and returns what it printed. */
async function next(part: string): Promise<string> {
  const command = commands.shift() ?? ''
  expect(command).toContain(part)
  // Both programs have the name and owner id of the old system, whose stand-in has a name of its own.
  const isOfOldProvider = command.includes('lazy-move')
  const filled = Object.entries(values)
    .filter(([from]) => isOfOldProvider || !from.includes('"name"'))
    .reduce((text, [from, to]) => text.replaceAll(from, to), command)
  expect(filled).not.toMatch(/…|example\.com/)
  const script = `set -euo pipefail\n${shell}${filled.replaceAll('curl ', 'curl -sS --fail ')}`
  const { stdout } = await bash('bash', ['-c', `${script}\necho "IMPORT=\${IMPORT:-}"`], { cwd: folder })
  const [, printed = '', kept = ''] = /^([\s\S]*)IMPORT=(.*)\n$/.exec(stdout) ?? []
  shell = kept === '' ? '' : `IMPORT=${kept}\n`
  return printed
}

const importOf = async () => (await call('GET', `/imports/${shell.trim().slice(7)}`)).json.data.import

async function ended() {
  await expect.poll(async () => (await importOf()).state).toMatch(/checked|done|failed|undone/)
  return importOf()
}

async function program(sdk: Sdk): Promise<OldProgram> {
  const app: OldApp = { name: 'Shire', ownerId: 'Kw3nD0rId1', secret, publicKey: '' }
  const started = new OldProgram(sdk, app, { wire: overSocket(server.url), device })
  expect(await started.init('1.0')).toMatchObject({ success: true })
  return started
}

function writeExports(more: { username: string }[] = []) {
  const soon = String(Math.floor(Date.now() / 1000) + 30 * 86_400)
  const users = ['frodo', 'sam', ...more.map(({ username }) => username)].map((username) => ({
    ...{ username, email: null, password, hwid: null, banned: null, ip: null },
  }))
  const subscription = users.map(({ username }) => ({
    user: username,
    subscription: 'default',
    expiry: soon,
  }))
  writeFileSync(join(folder, 'KeyAuthUsers.json'), JSON.stringify({ users, subscription }))
  const keys = [{ key: 'KA-AAAA-11', level: '1', expiry: 30 }]
  writeFileSync(join(folder, 'KeyAuthKeys.json'), JSON.stringify(keys))
}

const isMissing = (command: string) => spawnSync(command, ['-v'], { env: environment }).error !== undefined

test.skipIf(isMissing('jq'))('every command of the guide does what it says, in its order', async () => {
  expect(JSON.parse(await next('/compatibility'))).toMatchObject({ data: { enabled: true, name: 'Shire' } })
  expect(await next('type=init')).toMatch(/^\{"success":true,"message":"Initialized"/)

  writeExports()
  const starting = commands[0] ?? ''
  await next('/api/imports ')
  await next('"dryRun":true')
  expect(await ended()).toMatchObject({ state: 'checked', created: 2, skipped: 1 })
  const shown = JSON.parse(await next('jq'))
  expect(shown).toMatchObject({ state: 'checked', questions: [{ name: 'keysWithoutStatus', rows: 1 }] })
  expect(shown.rows.map(({ name }: { name: string }) => name)).toEqual(['frodo', 'sam', 'KA-AAAA-11'])
  const running = commands[0] ?? ''
  await next('"dryRun":false')
  expect(await ended()).toMatchObject({ state: 'done', created: 2, clients: 2 })
  await next('/report')
  expect(readFileSync(join(folder, 'report.csv'), 'utf8').trim().split('\n')).toHaveLength(4)
  const login = { username: 'frodo', pass: 'ring-bearer-1' }
  expect(await (await program(python12)).call('login', login)).toMatchObject({ success: true })

  const undoing = shell
  // "Import again: what exists is left out, what was sold since is added."
  writeExports([{ username: 'merry' }])
  commands.unshift(starting, running)
  await next('/api/imports ')
  await next('"dryRun":false')
  expect(await ended()).toMatchObject({ state: 'done', clients: 1 })
  shell = undoing
  await next('/undo')
  expect(await ended()).toMatchObject({ state: 'undone', kept: 1 })
  expect(await (await program(cpp12)).call('login', login)).toMatchObject({ success: true })

  old.add('pippin', { password: 'second-breakfast' })
  expect(JSON.parse(await next('/lazy-move'))).toMatchObject({ data: { moved: 0 } })
  const pippin = { username: 'pippin', pass: 'second-breakfast' }
  expect(await (await program(cpp12)).call('login', pippin)).toMatchObject({ success: true })
  expect((await call('GET', `/apps/${appId}/lazy-move`)).json.data).toMatchObject({ moved: 1, failed: 0 })

  expect(JSON.parse(await next('"preset":"table"'))).toMatchObject({ data: { import: { state: 'waiting' } } })
  await call('PUT', `/apps/${appId}`, { settings: { allowCustomLicenseKey: true } })
  expect(JSON.parse(await next('/licenses/import'))).toMatchObject({ success: true })
  expect(commands).toEqual([])
})

test('the endpoint that is turned off is unknown to programs', async () => {
  await call('PUT', `/apps/${appId}/compatibility`, {
    ...{ enabled: true, name: 'Gondor', ownerId: 'Kw3nD0rId2' },
  })
  const init = {
    method: 'POST',
    body: new URLSearchParams({ type: 'init', name: 'Gondor', ownerid: 'Kw3nD0rId2' }),
  }
  const ask = async () => (await fetch(`${server.url}/api/1.2/`, init)).text()
  expect(await ask()).toContain('Initialized')
  await call('PUT', `/apps/${appId}/compatibility`, { enabled: false })
  expect(await ask()).toBe('KeyAuth_Invalid')
})

describe('the proxy of the guide', () => {
  const on = serverForAll({ PUBLIC_URL: 'https://keys.example.com', TRUST_PROXY: '1', RATE_LIMITS: 'on' })

  test.skipIf(isMissing('nginx'))('takes any Host, before the name leads to it', async () => {
    const [, block = ''] = /^```nginx\n([\s\S]*?)^```/m.exec(guide) ?? []
    const [command = ''] = /curl --resolve [^`]+/.exec(guide) ?? []
    await makeOldApp(await signUp(on), { name: 'Shire', ownerId: 'Kw3nD0rId1' })
    const port = await freePort()
    const { key, cert } = selfSigned({ host: 'api.example.com' })
    writeFileSync(join(folder, 'key.pem'), key)
    writeFileSync(join(folder, 'cert.pem'), cert)
    const site = block
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace('http://127.0.0.1:3000', await on.server.listen({ port: 0, host: '127.0.0.1' }))
    const tls = 'ssl_certificate cert.pem; ssl_certificate_key key.pem;'
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path .;`)
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; master_process off; pid nginx.pid; error_log stderr;
events {}
http { access_log off; ${tls} ${places.join(' ')}
${site}}`,
    )
    const args = ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr']
    const proxy = spawn('nginx', args, { env: environment, stdio: ['ignore', 'ignore', 'inherit'] })
    const ended = once(proxy, 'exit')
    const kill = () => proxy.kill('SIGKILL')
    process.once('exit', kill)
    const here = command
      .replace('443:203.0.113.7', `${port}:127.0.0.1`)
      .replace('.com/', `.com:${port}/`)
      .replace('curl', `curl -sS --cacert ${join(folder, 'cert.pem')}`)
    const ask = async (more = '') => (await bash('bash', ['-c', here + more])).stdout
    await eventually(async () => expect(await ask()).toContain('"Initialized"'), {
      timeout: 60_000,
      interval: 100,
    })
    expect(await ask(` -H 'Host: keyauth.win'`)).toContain('"Initialized"')
    kill()
    process.off('exit', kill)
    await ended
  })
})

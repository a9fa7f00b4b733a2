// Runs inside an empty root without a network: installs, starts, upgrades and removes what `npm run package` builds.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'

const [archive] = readdirSync('/packages').filter((name) => name.endsWith('.tar.gz'))
const [first, second] = readdirSync('/packages')
  .filter((name) => name.endsWith('.deb'))
  .sort()
const account = { email: 'vera@example.com', password: 'correct horse' }
const settings = '/etc/keyward/keyward.env'
const sh = (line) =>
  execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
const done = (what) => console.log(`ok    ${what}`)

for (const command of ['node', 'npm', 'git']) assert.equal(spawnSync('which', [command]).status, 1, command)
await assert.rejects(fetch('http://deb.debian.org'))
await runArchive()
await runPackage()

async function runArchive() {
  sh(
    `cd /packages && sha256sum -c ${archive}.sha256 && mkdir /opt/archive && tar -xzf ${archive} -C /opt/archive`,
  )
  const [folder] = readdirSync('/opt/archive')
  mkdirSync('/srv/data')
  sh('chown nobody /srv/data')
  const other = { uid: 65_534, gid: 65_534, env: { PATH: '/usr/bin:/bin', PORT: '0', DATA_DIR: '/srv/data' } }
  const server = await start(`/opt/archive/${folder}/bin/keyward`, ['start'], other)
  await useServer(server.url)
  await server.end()
  done(`${archive} starts, takes a sign-up and answers a check`)
}

async function runPackage() {
  sh(`dpkg -i /packages/${first}`)
  assert.match(sh('getent passwd keyward'), /:\/var\/lib\/keyward:\/usr\/sbin\/nologin$/m)
  assert.equal(sh('stat -c "%U:%G %a" /var/lib/keyward').trim(), 'keyward:keyward 700')
  assert.equal(sh(`stat -c "%U:%G %a" ${settings}`).trim(), 'root:keyward 640')
  assert.ok(existsSync('/etc/systemd/system/multi-user.target.wants/keyward.service'))
  done(`${first} makes its user, folders and an enabled unit`)

  appendFileSync(settings, 'PORT=3456\n')
  const before = await start('keyward', ['start'])
  assert.equal(before.url, 'http://127.0.0.1:3456')
  const program = await useServer(before.url)
  assert.match(sh('keyward owner list'), /vera@example\.com/)
  assert.equal(sh('stat -c %U /var/lib/keyward/keyward.db').trim(), 'keyward')
  await before.end()
  done('it starts as its user with its settings, takes a sign-up and answers a check')

  sh(`dpkg -i --force-confold /packages/${second}`)
  assert.match(readFileSync(settings, 'utf8'), /^PORT=3456$/m)
  const after = await start('keyward', ['start'])
  await expectAccount(after.url, program)
  await after.end()
  done(`${second} upgrades it and keeps settings, accounts and keys`)

  sh('dpkg --remove keyward')
  assert.equal(existsSync('/usr/lib/keyward'), false)
  assert.ok(statSync('/var/lib/keyward/keyward.db').size > 0)
  assert.ok(existsSync(settings))
  sh(`dpkg -i /packages/${second}`)
  const again = await start('keyward', ['start'])
  await expectAccount(again.url, program)
  await again.end()
  done('a removal keeps data and settings for the next installation')

  sh('dpkg --purge keyward')
  for (const path of [
    '/etc/keyward',
    '/var/lib/keyward',
    '/var/cache/keyward',
    '/usr/lib/keyward',
    '/usr/bin/keyward',
  ])
    assert.equal(existsSync(path), false, path)
  assert.equal(existsSync('/etc/systemd/system/multi-user.target.wants/keyward.service'), false)
  assert.equal(spawnSync('getent', ['passwd', 'keyward']).status, 2)
  done('a purge removes data, settings, unit and user')
}

/** Starts a server and waits until it is ready. */
async function start(command, args, options = {}) {
  const server = spawn(command, args, { cwd: '/', ...options })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  let output = ''
  const url = await new Promise((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr])
      stream.on('data', (data) => {
        output += data
        const address = /Keyward is ready: (\S+)/.exec(output)?.[1]
        if (address) resolve(address)
      })
    ended.then(() => reject(new Error(`the server exited: ${output}`)))
  })
  assert.equal((await fetch(`${url}/api/health`)).status, 200)
  const end = async () => {
    server.kill('SIGTERM')
    assert.equal(await ended, 0)
  }
  return { url, end }
}

async function call(url, method, path, { token, body } = {}) {
  const response = await fetch(`${url}/api${path}`, {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const answer = await response.json()
  assert.ok(answer.success, `${method} ${path}: ${JSON.stringify(answer)}`)
  return answer.data
}

/** Signs up, sells a key and checks it with the SDK that the server serves. */
async function useServer(url) {
  const { token } = await call(url, 'POST', '/auth/register', { body: { name: 'Vera', ...account } })
  const { app } = await call(url, 'POST', '/apps', { token, body: { name: 'Atlas' } })
  const full = (await call(url, 'GET', `/apps/${app._id}`, { token })).app
  const { licenses } = await call(url, 'POST', '/licenses', {
    ...{ token, body: { app: app.appId, duration: { value: 30, unit: 'days' } } },
  })
  const { keys } = await call(url, 'GET', `/client/apps/${app.appId}/keys`)
  const program = {
    ...{ appId: full.appId, secret: full.appSecret, publicKeys: keys },
    ...{ version: full.version, key: licenses[0].key },
  }
  await expectCheck(url, program)
  return program
}

async function expectCheck(url, { key, ...options }) {
  const page = await (await fetch(`${url}/sdk/`)).text()
  const [file] = /[\d.]+\/keyward-sdk-[\d.]+\.tgz/.exec(page)
  const bytes = await (await fetch(`${url}/sdk/${file}`)).arrayBuffer()
  mkdirSync('/sdk', { recursive: true })
  execFileSync('tar', ['-xzf', '-', '-C', '/sdk'], { input: Buffer.from(bytes) })
  const { Keyward } = await import('/sdk/package/dist/node.js')
  const keyward = new Keyward({ baseUrl: url, hwid: 'machine', ...options })
  const result = await keyward.license(key)
  assert.ok(result.ok, JSON.stringify(result))
  assert.ok((await keyward.session()).ok)
}

async function expectAccount(url, program) {
  const { token } = await call(url, 'POST', '/auth/login', { body: account })
  const { apps } = await call(url, 'GET', '/apps', { token })
  assert.deepEqual(
    apps.map(({ name }) => name),
    ['Atlas'],
  )
  await expectCheck(url, program)
}

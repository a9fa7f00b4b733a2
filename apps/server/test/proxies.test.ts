import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from './eventually.ts'
import { serverForAll } from './fixtures.ts'
import { freePort } from './free-port.ts'
import { selfSigned } from './self-signed.ts'

const host = 'keys.example.com'
/** Differs from the address that the proxies connect from. */
const visitor = '127.0.0.2'
const certificate = selfSigned({ host })
const environment = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
const on = serverForAll({ PUBLIC_URL: `https://${host}/keyward`, TRUST_PROXY: '1', RATE_LIMITS: 'on' })
let folder: string
let upstream: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-proxy-'))
  writeFileSync(join(folder, 'cert.pem'), certificate.cert)
  writeFileSync(join(folder, 'key.pem'), certificate.key)
  writeFileSync(join(folder, 'both.pem'), `${certificate.cert}${certificate.key}`)
  upstream = new URL(await on.server.listen({ port: 0, host: '127.0.0.1' })).host
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A configuration of `deploy/` with the ports, files and addresses of this test; each replaced text has to occur. */
function configured(name: string, changes: [string, string][]): string {
  let text = readFileSync(fileURLToPath(new URL(`../../../deploy/${name}`, import.meta.url)), 'utf8')
  // A machine without IPv6 cannot listen on its addresses.
  text = text.replaceAll(/^ *listen \[::\].*\n/gm, '')
  for (const [before, after] of [['127.0.0.1:3000', upstream] as [string, string], ...changes]) {
    expect(text).toContain(before)
    text = text.replaceAll(before, after)
  }
  return text
}

interface Ports {
  plain: number
  tls: number
}
const proxies = {
  nginx: ({ plain, tls }: Ports, isPath: boolean) => {
    const live = `/etc/letsencrypt/live/${host}`
    const site = configured('nginx/keyward.conf', [
      ['listen 80;', `listen 127.0.0.1:${plain};`],
      ['listen 443 ', `listen 127.0.0.1:${tls} `],
      [`${live}/fullchain.pem`, 'cert.pem'],
      [`${live}/privkey.pem`, 'key.pem'],
      ...(isPath ? [['    location / {', '    location /keyward/ {'] as [string, string]] : []),
    ])
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path .;`)
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; master_process off; pid nginx.pid; error_log stderr;
events {}
http { access_log off; ${places.join(' ')}
${site}}`,
    )
    return ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr']
  },
  caddy: ({ plain, tls }: Ports, isPath: boolean) => {
    const site = configured('caddy/Caddyfile', [
      [`\n${host} {`, `\n${host} {\n\tbind 127.0.0.1\n\ttls ${folder}/cert.pem ${folder}/key.pem`],
      ...(isPath ? [['\treverse_proxy 1', '\treverse_proxy /keyward/* 1'] as [string, string]] : []),
    ])
    const global = `{\n\tadmin off\n\thttp_port ${plain}\n\thttps_port ${tls}\n\tskip_install_trust\n\tstorage file_system ${folder}/caddy\n}\n`
    writeFileSync(join(folder, 'Caddyfile'), `${global}${site}`)
    return ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
  },
  haproxy: ({ plain, tls }: Ports, isPath: boolean) => {
    const text = configured('haproxy/haproxy.cfg', [
      ['bind :80', `bind 127.0.0.1:${plain}`],
      ['bind :443', `bind 127.0.0.1:${tls}`],
      [`/etc/haproxy/${host}.pem`, `${folder}/both.pem`],
      ...(isPath
        ? [
            ['    default_backend keyward', '    use_backend keyward if { path_beg /keyward/ }'] as [
              string,
              string,
            ],
          ]
        : []),
    ])
    writeFileSync(join(folder, 'haproxy.cfg'), text)
    return ['-db', '-f', join(folder, 'haproxy.cfg')]
  },
}

/** Starts a proxy and waits until it accepts connections. */
async function startProxy(name: keyof typeof proxies, isPath: boolean) {
  const ports = { plain: await freePort(), tls: await freePort() }
  const child = spawn(name, proxies[name](ports, isPath), {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${name} ended: ${output}`)
  })
  // A proxy that the test itself ends is no failure.
  ended.catch(() => {})
  const answers = (port: number) => async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect').finally(() => socket.destroy())
  }
  for (const port of Object.values(ports))
    await Promise.race([ended, eventually(answers(port), { timeout: 60_000, interval: 20 })])
  return { child, ports }
}

async function end(child: ChildProcess | undefined) {
  if (!child || child.exitCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe.each(['nginx', 'caddy', 'haproxy'] as const)('%s, as in deploy/', (name) => {
  const missing = spawnSync(name, ['-v'], { env: environment }).error !== undefined
  let proxy!: Awaited<ReturnType<typeof startProxy>>
  let isPath = false
  beforeEach(async () => {
    if (!missing) proxy = await startProxy(name, isPath)
    isPath = true
  })
  afterEach(async () => {
    if (!missing) await end(proxy?.child)
  })

  /** Sends a request as a visitor who claims another address; returns the response once its head is here. */
  async function request(method: string, path: string, { token = '', body = '' } = {}) {
    const sent = https.request({
      ...{ method, path, host: '127.0.0.1', port: proxy.ports.tls, localAddress: visitor, agent: false },
      ...{ servername: host, ca: certificate.cert },
      headers: {
        host,
        'x-forwarded-for': '203.0.113.9',
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === '' ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
      },
    })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    return response
  }
  async function call(method: string, path: string, options: { token?: string; body?: string } = {}) {
    const response = await request(method, path, options)
    let text = ''
    for await (const chunk of response) text += chunk
    return { status: response.statusCode, text }
  }

  test.skipIf(missing)(
    `passes calls, visitors' addresses and live events over TLS (needs ${name})`,
    async () => {
      const email = `${name}@example.com`
      const body = JSON.stringify({ name: 'Vera', email, password: 'correct horse' })
      const registered = await call('POST', '/keyward/api/auth/register', { body })
      expect(registered.status).toBe(201)
      const { token } = JSON.parse(registered.text).data
      const { text } = await call('GET', '/keyward/api/audit', { token })
      const addresses = JSON.parse(text).data.records.map(({ address }: { address: string }) => address)
      expect(new Set(addresses)).toEqual(new Set([visitor]))

      const events = await request('GET', '/keyward/api/events', { token })
      let seen = ''
      events.on('data', (data) => (seen += data))
      events.on('error', () => {})
      await call('POST', '/keyward/api/apps', { token, body: '{"name":"Atlas"}' })
      await eventually(() => expect(seen).toContain('event: change'), { timeout: 60_000, interval: 20 })
      events.destroy()

      // Larger than what proxies accept by default: the answer is that of Keyward.
      const large = await call('PUT', '/keyward/api/imports/imp_missing/files/keys.json', {
        ...{ token, body: ' '.repeat(3 * 2 ** 20) },
      })
      expect(JSON.parse(large.text).code).toBe('not_found')
    },
  )

  test.skipIf(missing)(`serves a path alone and sends plain http to https (needs ${name})`, async () => {
    expect((await call('GET', '/keyward/api/health')).status).toBe(200)
    expect((await call('GET', '/api/health')).text).not.toContain('success')
    const plain = http.get({
      ...{ host: '127.0.0.1', port: proxy.ports.plain, path: '/keyward/', headers: { host }, agent: false },
    })
    const [{ statusCode, headers }] = (await once(plain, 'response')) as [http.IncomingMessage]
    expect([statusCode, headers.location]).toEqual([308, expect.stringMatching(/^https:\/\/.*\/keyward\/$/)])
    plain.destroy()
  })
})

import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { apiKeyPermissions } from '@keyward/contract'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { toolsFor } from '../src/mcp/agent-server.ts'
import { makeLicenses, single } from './actors.ts'
import { cli, connectAgent, newClient, startAgent, startMcp, toAgent } from './agents.ts'
import { makeApiKey } from './api-key-actor.ts'
import { eventually } from './eventually.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from './fixtures.ts'
import { rounds, someOf, times } from './rounds.ts'
import { openGate } from './tcp-gate.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
let url: string
let every: Awaited<ReturnType<typeof makeApiKey>>
let environment: { KEYWARD_URL: string; KEYWARD_API_KEY: string }
/** One that tests share. */
let http: Awaited<ReturnType<typeof startHttp>>
beforeAll(async () => {
  url = await on.server.listen({ port: 0, host: '127.0.0.1' })
  every = await makeApiKey(on, owner, { permissions: [...apiKeyPermissions] })
  environment = { KEYWARD_URL: url, KEYWARD_API_KEY: every.key }
  http = await startHttp(['--write'], {}, () => {})
})
afterAll(() => http.child.kill('SIGKILL'))

const allTools = toolsFor(apiKeyPermissions, true)

const names = ['ban_license', 'create_licenses', 'find_license', '__proto__', '']
/** What no client sends. */
const rubbish = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.json(),
  fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.jsonValue(),
    method: fc.string(),
    params: fc.jsonValue(),
  }),
  fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.nat(),
    method: fc.constantFrom('tools/list', 'ping', 'resources/read', 'completion/complete'),
    params: fc.jsonValue(),
  }),
  fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.nat(),
    method: fc.constant('tools/call'),
    params: fc.record(
      { name: fc.constantFrom(...names), arguments: fc.object(), _meta: fc.jsonValue() },
      { requiredKeys: ['name', 'arguments'] },
    ),
  }),
)

/** `keyward mcp --http` on a free port. */
async function startHttp(...[args, more, whenDone]: Parameters<typeof startMcp>) {
  const { child, written } = startMcp(['--http', '0', ...args], { ...environment, ...more }, whenDone)
  await eventually(() => expect(written.stderr).toMatch(/read-only|"\.\n/))
  const address = /http:\S+\/mcp/.exec(written.stderr)![0]
  const token = /Bearer (\S+)/.exec(written.stderr)?.[1] ?? more.KEYWARD_MCP_TOKEN!
  return { child, written, address, token }
}

async function connectHttp(address: string, token: string) {
  const headers = { authorization: `Bearer ${token}` }
  const client = newClient()
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return toAgent(client)
}

describe('over standard input and output', () => {
  test('a scripted agent finds, bans and extends a license', async () => {
    const license = single(await makeLicenses(on, owner, app))
    const agent = await startAgent(['--write'], environment)
    const { licenses } = await agent.call('find_license', { search: license.key })
    expect(single(licenses)).toMatchObject({ id: license._id, status: 'unused' })
    expect(await agent.call('ban_license', { id: license._id, reason: 'Chargeback' })).toMatchObject({
      license: { status: 'banned', banReason: 'Chargeback' },
    })
    const { license: stored } = (await owner.call('GET', `/licenses/${license._id}`)).json.data
    expect(stored).toMatchObject({ banned: true, banReason: 'Chargeback' })
    expect(agent.errors()).toBe('')
  })

  test('the process ends with its input, also while it waits for the server', async () => {
    const gate = await openGate({ host: '127.0.0.1', port: Number(new URL(url).port) })
    onTestFinished(() => gate.close())
    const through = { ...environment, KEYWARD_URL: `http://127.0.0.1:${gate.port}` }
    const { child, written, ended } = startMcp([], through)
    const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    say({ id: 1, method: 'initialize', params })
    await expect.poll(() => written.stdout).toContain('"id":1')
    gate.freeze()
    say({ id: 2, method: 'tools/call', params: { name: 'list_apps', arguments: {} } })
    await expect.poll(() => gate.open()).toBeGreaterThan(0)
    const start = performance.now()
    child.stdin.end()
    expect(await ended).toBe(0)
    expect(performance.now() - start).toBeLessThan(10_000)
    expect(written.stderr).toBe('')
  })

  test('rubbish neither ends it nor gets anything but messages of the protocol, and shows no secret', async () => {
    const { child, written, ended } = startMcp(['--write'], environment)
    let failed = false
    child.stdin.on('error', () => {
      failed = true
    })
    const initialize = {
      ...{ jsonrpc: '2.0', id: 'start', method: 'initialize' },
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    }
    const messages = fc.sample(rubbish, rounds(60, 2000))
    child.stdin.write(`${JSON.stringify(initialize)}\n`)
    for (const one of messages) {
      const line = typeof one === 'string' ? one.replace(/[\r\n]/g, ' ') : JSON.stringify(one)
      if (!child.stdin.write(`${line}\n`)) await once(child.stdin, 'drain')
    }
    const last = { jsonrpc: '2.0', id: 'last', method: 'tools/list' }
    child.stdin.write(`${JSON.stringify(last)}\n`)
    await expect.poll(() => written.stdout).toContain('"id":"last"')
    child.stdin.end()
    expect(await ended).toBe(0)
    expect(failed).toBe(false)
    expect(written.stdout).toContain('Invalid arguments for tool')
    for (const line of written.stdout.trim().split('\n')) expect(JSON.parse(line).jsonrpc).toBe('2.0')
    for (const text of [written.stdout, written.stderr])
      for (const secret of [every.key, app.appSecret]) expect(text).not.toContain(secret)
  })

  test('a start that cannot work is one line that names what to change, without the key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyward-agents-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'key')
    writeFileSync(file, `${every.key}\n`)
    const none = await makeApiKey(on, owner, { permissions: ['webhooks:read'] })
    const other = `${every.key.slice(0, -1)}${every.key.endsWith('0') ? '1' : '0'}`
    const starts = [
      [{ KEYWARD_API_KEY: '' }, 'KEYWARD_API_KEY: is required'],
      [{ KEYWARD_API_KEY: other }, 'KEYWARD_API_KEY: is not an API key'],
      [{ KEYWARD_API_KEY_FILE: file }, 'KEYWARD_API_KEY: is set together with KEYWARD_API_KEY_FILE'],
      [{ KEYWARD_API_KEY: '', KEYWARD_API_KEY_FILE: `${file}2` }, 'KEYWARD_API_KEY_FILE: there is no file'],
      [{ KEYWARD_API_KEY: none.key }, 'The API key may read neither'],
      [{ KEYWARD_API_KEY: 'kwa_zzzzzzzzzzzzzzzzzzzzzzzzzzzYFOurnj0000H7' }, 'does not accept the API key'],
      [{ KEYWARD_URL: 'http://192.0.2.1:3000' }, 'KEYWARD_URL: must be an https address'],
      [{ KEYWARD_URL: 'https://user:pass@127.0.0.1' }, 'KEYWARD_URL: must be the address'],
      [{ KEYWARD_URL: 'http://127.0.0.1:1' }, 'The Keyward server cannot be reached'],
      [{ KEYWARD_MCP_TOKEN: 'short' }, 'KEYWARD_MCP_TOKEN: must have 32 to 200'],
    ] as const
    const start = async ([more, line]: (typeof starts)[number]) => {
      const { ended, written } = startMcp([], { ...environment, ...more })
      expect(await ended, line).toBe(1)
      expect(written.stderr).toContain(line)
      expect(written.stderr.trim().split('\n')).toHaveLength(1)
      expect(written.stdout).toBe('')
      for (const secret of [every.key, other, 'pass']) expect(written.stderr).not.toContain(secret)
    }
    await Promise.all(someOf(starts, 3).map(start))
  })
})

describe('the configuration in docs/agents.md', () => {
  const page = readFileSync(new URL('../../../docs/agents.md', import.meta.url), 'utf8')
  const [stdio, web] = [...page.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(
    ([, text]) => JSON.parse(text!).mcpServers.keyward,
  )

  test('connects a client by a process', async () => {
    const root = fileURLToPath(new URL('../../../', import.meta.url))
    expect(Object.keys(stdio.env).sort()).toEqual(Object.keys(environment).sort())
    const transport = new StdioClientTransport({
      command: stdio.command,
      args: stdio.args.map((each: string) => (each === '/opt/keyward' ? root : each)),
      env: { PATH: process.env.PATH ?? '', ...environment },
      cwd: tmpdir(),
      stderr: 'ignore',
    })
    const client = newClient()
    await client.connect(transport)
    onTestFinished(() => client.close())
    expect(await toAgent(client).tools()).toContain('explain_refusal')
  })

  test('connects a client over HTTP', async () => {
    const { address, token } = http
    const { host } = new URL(address)
    expect(web.url.replace(/:\d+/, `:${new URL(address).port}`)).toBe(`http://${host}/mcp`)
    const agent = await connectHttp(address, web.headers.Authorization.replace('Bearer 1vQ3…', token))
    expect(await agent.tools()).toContain('explain_refusal')
  })

  test('names every tool with what it needs, and no other', () => {
    const rows = [...page.matchAll(/^\| (`[a-z]+_.*) \| (`.*) \|$/gm)]
    const said = rows.flatMap(([, names = '', needs = '']) =>
      [...names.matchAll(/`([a-z_]+)`/g)].map(([, name]) => [name, needs.replaceAll('`', '')]),
    )
    const own = allTools.map(({ name, kind, needs }) => [
      name,
      [...(kind === 'read' ? [] : ['--write']), ...needs].join(', '),
    ])
    expect(said.sort()).toEqual(own.sort())
  })
})

describe('over HTTP', () => {
  test('agents with the token share a server without sessions', async () => {
    const { address, token, written } = http
    const agents = await times(4, () => connectHttp(address, token))
    const body = { app: app._id, duration: { value: 1, unit: 'days' }, note: 'over HTTP' }
    const answers = await times(32, (at) => agents[at % 4]!.call('create_licenses', body))
    for (const { licenses } of answers) expect(licenses).toEqual(answers[0].licenses)
    const { licenses } = await agents[0]!.call('find_license', { search: 'over HTTP' })
    expect(licenses).toHaveLength(1)
    expect(written.stderr.match(new RegExp(token, 'g'))).toHaveLength(1)
    expect(written.stdout + written.stderr).not.toContain(every.key)
  })

  test.each(['legacy', 'auto'] as const)(
    'serves clients of both revisions of the protocol: %s',
    async (mode) => {
      const { address, token } = http
      const headers = { authorization: `Bearer ${token}` }
      const overHttp = newClient(mode)
      await overHttp.connect(
        new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }),
      )
      const overStdio = newClient(mode)
      const env = { PATH: process.env.PATH ?? '', ...environment }
      await overStdio.connect(
        new StdioClientTransport({ command: process.execPath, args: [cli, 'mcp'], env, stderr: 'ignore' }),
      )
      for (const client of [overHttp, overStdio]) {
        onTestFinished(() => client.close())
        const agent = toAgent(client)
        expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25')
        expect(await agent.call('list_apps')).toMatchObject({ apps: [{ id: app._id }] })
      }
    },
  )

  test('rubbish gets an answer each, and leaves the server as it was', async () => {
    const { address, token, written } = http
    const version = fc.constantFrom(undefined, '2025-06-18', '2026-07-28', 'x')
    const type = fc.constantFrom('application/json', 'application/json; charset=x', 'text/plain')
    const method = fc.constantFrom('POST', 'POST', 'POST', 'GET', 'DELETE', 'PUT')
    for (const sent of fc.sample(fc.record({ rubbish, version, type, method }), rounds(40, 1000))) {
      const answer = await fetch(address, {
        method: sent.method,
        headers: {
          ...{ authorization: `Bearer ${token}`, 'content-type': sent.type },
          accept: 'application/json, text/event-stream',
          ...(sent.version === undefined ? {} : { 'mcp-protocol-version': sent.version }),
        },
        ...(sent.method === 'GET'
          ? {}
          : { body: typeof sent.rubbish === 'string' ? sent.rubbish : JSON.stringify(sent.rubbish) }),
        signal: AbortSignal.timeout(60_000),
      })
      const text = await answer.text()
      expect(answer.status, text).toBeLessThan(500)
      for (const secret of [every.key, token, app.appSecret]) expect(text).not.toContain(secret)
    }
    expect(await (await connectHttp(address, token)).call('list_apps')).toMatchObject({
      apps: [{ id: app._id }],
    })
    expect(written.stdout).toBe('')
  })

  test('refuses every other caller, web pages and long bodies', async () => {
    const token = 'a-token-from-the-environment-0123456789'
    const { address, written } = await startHttp([], { KEYWARD_MCP_TOKEN: token })
    expect(written.stderr).not.toContain(token)
    const { port, host } = new URL(address)
    const send = (headers: Record<string, string>, path = '/mcp', body = '{}', method = 'POST') =>
      new Promise<{ status: number; headers: object }>((resolve, reject) => {
        const sent = request({ port, host: '127.0.0.1', path, method, headers }, (answer) => {
          answer.resume().once('end', () => resolve({ status: answer.statusCode!, headers: answer.headers }))
        })
        sent.once('error', reject).end(body)
      })
    const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const right = { ...json, authorization: `Bearer ${token}` }
    for (const [status, headers, ...rest] of [
      [401, json],
      [401, { ...json, authorization: 'Bearer ' }],
      [401, { ...json, authorization: `Bearer ${token.slice(1)}` }],
      [401, { ...json, authorization: `Basic ${token}` }],
      [401, { ...json, authorization: `Bearer ${every.key}` }],
      [403, { ...right, host: `evil.example:${port}` }],
      [403, { ...right, host: '127.0.0.1:1' }],
      [403, { ...right, origin: 'https://evil.example' }],
      [403, { ...right, origin: 'http://localhost:1' }],
      [403, { ...right, origin: 'null' }],
      [404, right, '/'],
      [404, right, '/mcp/more'],
      [413, right, '/mcp', ' '.repeat(70_000)],
      [405, right, '/mcp', '', 'GET'],
      [405, right, '/mcp', '', 'DELETE'],
      [400, right],
      [400, { ...right, origin: `http://${host}` }],
      [415, { ...right, 'content-type': 'text/plain' }],
    ] as [number, Record<string, string>, ...string[]][]) {
      const answer = await send(headers, ...(rest as [string?, string?, string?]))
      expect(answer.status, JSON.stringify([headers, ...rest]).slice(0, 300)).toBe(status)
      for (const name of Object.keys(answer.headers)) expect(name).not.toMatch(/^access-control-/)
    }
    const agent = await connectHttp(address, token)
    expect((await agent.tools()).length).toBeGreaterThan(5)
  })
})

describe('a server that is away', () => {
  test('fails a call in bounded time, and the next one works', async () => {
    const license = single(await makeLicenses(on, owner, app))
    const gate = await openGate({ host: '127.0.0.1', port: Number(new URL(url).port) })
    onTestFinished(() => gate.close())
    const agent = await connectAgent(`http://127.0.0.1:${gate.port}`, every, { write: true, timeoutMs: 1000 })
    const get = ['get_license', { id: license._id }] as const
    await agent.call(...get)
    gate.freeze()
    expect(await agent.fail(...get)).toBe('The Keyward server did not answer within 1 seconds.')
    expect(await agent.fail('extend_license', { id: license._id, days: 1 })).toContain(
      'make the same call again',
    )
    gate.cut()
    expect(await agent.fail(...get)).toBe('The Keyward server cannot be reached.')
    gate.mend()
    gate.thaw()
    await agent.call(...get)
  })

  test('but slow fails a tool of several calls after the time of one', async () => {
    const license = single(await makeLicenses(on, owner, app))
    const gate = await openGate({ host: '127.0.0.1', port: Number(new URL(url).port) })
    onTestFinished(() => gate.close())
    const agent = await connectAgent(`http://127.0.0.1:${gate.port}`, every, { timeoutMs: 1500 })
    await agent.call('get_license', { id: license._id })
    gate.delay(1000)
    expect(await agent.fail('explain_refusal', { license: license._id })).toBe(
      'The Keyward server did not answer within 1.5 seconds.',
    )
  })

  test('that dies after it made licenses has made them once when the call is repeated', async () => {
    const gate = await openGate({ host: '127.0.0.1', port: Number(new URL(url).port) })
    onTestFinished(() => gate.close())
    const through = `http://127.0.0.1:${gate.port}`
    const agent = await connectAgent(through, every, { write: true, timeoutMs: 2000 })
    await agent.call('list_apps')
    const wanted = { app: app._id, expiresAt: null, note: 'lost answer' }
    const made = async () =>
      (await owner.call('GET', '/licenses?search=lost%20answer')).json.data.licenses as { _id: string }[]
    // The answer does not come back, so the agent cannot know that the work was done.
    gate.delay(60_000)
    const call = agent.fail('create_licenses', wanted)
    await expect.poll(async () => (await made()).length).toBe(1)
    gate.cut()
    expect(await call).toContain('make the same call again')
    gate.mend()
    const again = await connectAgent(url, every, { write: true })
    expect(await again.call('create_licenses', wanted)).toMatchObject({
      licenses: [{ id: (await made())[0]!._id }],
      repeated: true,
    })
    expect(await made()).toHaveLength(1)
  })
})

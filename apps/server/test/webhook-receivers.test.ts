import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from './eventually.ts'
import { everyRow } from './every-row.ts'
import { freePort } from './free-port.ts'
import { makeDataDir } from './migrated.ts'
import { callOver, startProcess } from './server-process.ts'

const folder = fileURLToPath(new URL('../../../examples/automation/receivers/', import.meta.url))
const secretOf = (character: string) => `whsec_${Buffer.from(character.repeat(32)).toString('base64')}`
const [secret, otherSecret] = [secretOf('a'), secretOf('b')]

const receivers = {
  Node: { file: 'receiver.mjs', command: () => [process.execPath, 'receiver.mjs'] },
  Python: { file: 'receiver.py', command: () => ['python3', 'receiver.py'] },
  PHP: {
    file: 'receiver.php',
    command: (port: number) => ['php', '-d', 'display_errors=1', '-S', `127.0.0.1:${port}`, 'receiver.php'],
  },
}

const start = (command: string[], environment: Record<string, string>): ChildProcess =>
  spawn(command[0]!, command.slice(1), { cwd: folder, env: { PATH: process.env.PATH, ...environment } })

interface Message {
  id?: string
  body?: string
  secrets?: string[]
  ageSeconds?: number
}

const event = JSON.stringify({ type: 'license.banned', timestamp: '2026-01-01T00:00:00.000Z', data: {} })

/** The headers of a delivery, signed by the library of Standard Webhooks. */
function sign({ id = 'aud_1', body = event, secrets = [secret], ageSeconds = 0 }: Message) {
  const at = new Date(Date.now() - ageSeconds * 1000)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((one) => new Webhook(one).sign(id, at, body)).join(' '),
  }
}

const large = JSON.stringify({ type: 'license.banned', data: 'é'.repeat(524_288) })
const without = (name: keyof ReturnType<typeof sign>) =>
  Object.fromEntries(Object.entries(sign({})).filter(([header]) => header !== name))

interface Case {
  headers: Record<string, string>
  body?: string
}

const genuine: Record<string, () => Case> = {
  'an event': () => ({ headers: sign({}) }),
  'a body of 1 MB': () => ({ headers: sign({ body: large }), body: large }),
  'a body without ASCII': () => ({ headers: sign({ body: '{"type":"ключ"}' }), body: '{"type":"ключ"}' }),
  'a clock that is four minutes behind': () => ({ headers: sign({ ageSeconds: 240 }) }),
  'a rotated secret, its signature first': () => ({ headers: sign({ secrets: [secret, otherSecret] }) }),
  'a rotated secret, its signature second': () => ({ headers: sign({ secrets: [otherSecret, secret] }) }),
}

const forged: Record<string, () => Case> = {
  'another secret': () => ({ headers: sign({ secrets: [otherSecret] }) }),
  'two other secrets': () => ({ headers: sign({ secrets: [otherSecret, secretOf('c')] }) }),
  'a changed body': () => ({ headers: sign({}), body: event.replace('banned', 'edited') }),
  'a body with a space more': () => ({ headers: sign({}), body: `${event} ` }),
  'another id': () => ({ headers: { ...sign({}), 'webhook-id': 'aud_2' } }),
  'another timestamp': () => ({ headers: { ...sign({}), 'webhook-timestamp': '1' } }),
  'an event of six minutes ago': () => ({ headers: sign({ ageSeconds: 360 }) }),
  'an event of six minutes ahead': () => ({ headers: sign({ ageSeconds: -360 }) }),
  'no id': () => ({ headers: without('webhook-id') }),
  'no timestamp': () => ({ headers: without('webhook-timestamp') }),
  'no signature': () => ({ headers: without('webhook-signature') }),
  'an empty signature': () => ({ headers: { ...sign({}), 'webhook-signature': '' } }),
  'signatures that are none': () => ({ headers: { ...sign({}), 'webhook-signature': 'v1,é v1 , v1a,=' } }),
  'no header': () => ({ headers: {} }),
}

/** The status of the first answer, or that the receiver ended. */
const firstAnswer = (child: ChildProcess, port: number, headers: Record<string, string>) =>
  eventually(async () => {
    if (child.exitCode !== null) return 'ended'
    return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: event })).status
  })

interface Delivery {
  state: string
  status: number
}

/** A real server with an owner. */
let owner: Awaited<ReturnType<typeof startOwner>>
beforeAll(async () => {
  owner = await startOwner()
})
afterAll(() => owner.stop())

async function startOwner() {
  const dataDir = await makeDataDir('keyward-receivers-')
  const server = await startProcess({ DATA_DIR: dataDir, PAYMENTS: 'off' })
  const person = { name: 'Vera', email: 'vera@example.com', password: 'a good password' }
  const { token } = (await callOver(server.url, 'POST', '/auth/register', { body: person })).json.data
  return {
    call: async (method: string, path: string, body?: object) =>
      (await callOver(server.url, method, path, { token, body })).json.data,
    stop: async () => {
      await server.end('SIGTERM')
      rmSync(dataDir, { recursive: true })
    },
  }
}

const isMissing = (command: string) => spawnSync(command, ['--version']).status !== 0

describe.each(Object.entries(receivers))('the receiver for %s', (_language, { file, command }) => {
  const isSkipped = isMissing(command(0)[0]!)
  let child: ChildProcess
  let port: number
  let output = ''

  beforeAll(async () => {
    if (isSkipped) return
    port = await freePort()
    child = start(command(port), { PORT: String(port), WEBHOOK_SECRET: secret })
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text))
    await firstAnswer(child, port, {})
  })
  afterAll(() => child?.kill('SIGKILL'))

  const send = (headers: Record<string, string>, body: string) =>
    fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })

  // Each row signs just before it sends, so that a slow machine makes no timestamp old.
  test.skipIf(isSkipped)('accepts what its secret signed in the last five minutes', () =>
    everyRow(Object.entries(genuine), async (_name, make) => {
      const { headers, body = event } = make()
      expect((await send(headers, body)).status).toBe(204)
    }),
  )

  test.skipIf(isSkipped)('refuses everything else', () =>
    everyRow(Object.entries(forged), async (_name, make) => {
      const { headers, body = event } = make()
      expect((await send(headers, body)).status).toBe(401)
    }),
  )

  test.skipIf(isSkipped)('reads an event only after its signature was checked', async () => {
    expect((await send(sign({ id: 'aud_foreign', secrets: [otherSecret] }), event)).status).toBe(401)
    expect((await send(sign({ id: 'aud_genuine' }), event)).status).toBe(204)
    await expect.poll(() => output).toContain('aud_genuine license.banned')
    expect(output).not.toContain('aud_foreign')
  })

  test.skipIf(isSkipped)('gets what a server sends to it, in order', async () => {
    const spare = await freePort()
    const wanted = { url: `http://127.0.0.1:${spare}/hook`, events: ['app.created', 'app.updated'] }
    const { webhook, secret: own } = await owner.call('POST', '/webhooks', wanted)
    let heard = ''
    const receiver = start(command(spare), { PORT: `${spare}`, WEBHOOK_SECRET: own })
    for (const stream of [receiver.stdout, receiver.stderr])
      stream?.on('data', (text) => {
        heard += text
      })
    await firstAnswer(receiver, spare, {})
    const { app } = await owner.call('POST', '/apps', { name: `For ${file} – ключ` })
    await owner.call('PUT', `/apps/${app._id}`, { name: 'Renamed' })
    await expect.poll(() => heard.match(/(?<=aud_\S* )app\.\w+/g)).toEqual(['app.created', 'app.updated'])
    const states = async () => {
      const { deliveries } = await owner.call('GET', `/webhooks/${webhook._id}/deliveries`)
      return deliveries.map(({ state, status }: Delivery) => `${state} ${status}`)
    }
    await expect.poll(states).toEqual(['delivered 204', 'delivered 204'])
    receiver.kill('SIGKILL')
  })

  test.skipIf(isSkipped)('survives strangers that disconnect or send no JSON', async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.end('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"type"')
    socket.destroy()
    expect((await send({}, '{')).status).toBe(401)
    expect((await send(sign({}), event)).status).toBe(204)
  })

  test.skipIf(isSkipped)('does not accept events without a secret of its own', async () => {
    for (const known of ['', 'whsec_', 'whsec_AAAA', undefined]) {
      const key = Buffer.from(known?.slice('whsec_'.length) ?? '', 'base64')
      const signed = sign({})
      const content = `${signed['webhook-id']}.${signed['webhook-timestamp']}.${event}`
      const signature = `v1,${createHmac('sha256', key).update(content).digest('base64')}`
      const spare = await freePort()
      const unset = start(command(spare), {
        PORT: `${spare}`,
        ...(known !== undefined && { WEBHOOK_SECRET: known }),
      })
      const answer = await firstAnswer(unset, spare, { ...signed, 'webhook-signature': signature })
      unset.kill('SIGKILL')
      expect([known, answer]).toEqual([known, answer === 500 ? 500 : 'ended'])
    }
  })

  test('has fifteen lines at most', () => {
    const lines = readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => line.trim())
    expect(lines.length).toBeLessThanOrEqual(15)
  })
})

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from './load.ts'
import { startServer } from './processes.ts'
import { readSeeded, seededFolder } from './seed.ts'

// What honest callers wait for while strangers flood the server: `node bench/floods.ts [seconds] [checkout] [data] [name]`.

const [seconds = '5', checkout, dataFolder, only] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'keyward-floods-'))
const seed = dataFolder ?? (await seededFolder(300_000))
cpSync(seed, folder, { recursive: true })
const seeded = readSeeded(folder)
const server = await startServer(
  { DATA_DIR: folder, RATE_LIMITS: 'on', TRUST_PROXY: '1', PAYMENTS: 'off' },
  [],
  checkout || undefined,
)
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

interface Answer {
  status: number
  ms: number
  // biome-ignore lint/suspicious/noExplicitAny: a few fields of many answers
  data: any
}

function send(
  from: string,
  method: string,
  path: string,
  { token, body, headers = {} }: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const started = performance.now()
  const text = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(
      `${server.baseUrl}/api${path}`,
      {
        agent,
        method,
        headers: {
          'x-forwarded-for': from,
          ...(token && { authorization: `Bearer ${token}` }),
          ...(text !== undefined && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(text)),
          }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const ms = performance.now() - started
          let data: unknown
          try {
            data = JSON.parse(Buffer.concat(chunks).toString()).data
          } catch {}
          resolve({ status: response.statusCode ?? 0, ms, data })
        })
      },
    )
    sent.on('error', reject).end(text)
  })
}

interface Flood {
  connections: number
  honest: () => Promise<Answer>
  attack: (connection: number, round: number) => Promise<Answer>
}

const statuses = (answers: Answer[]) =>
  [...Map.groupBy(answers, ({ status }) => status)]
    .map(([status, { length }]) => `${status}: ${length}`)
    .join(', ')

const memoryOf = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024

/** Prints the median of the honest call alone and during the flood. */
async function measure(name: string, { connections, honest, attack }: Flood): Promise<void> {
  if (only && !name.includes(only)) return
  const sample = async (over: () => boolean) => {
    const answers: Answer[] = []
    while (!over()) {
      answers.push(await honest())
      await sleep(5)
    }
    return answers
  }
  const lengthMs = Number(seconds) * 1000
  const after = (ms: number) => {
    const until = performance.now() + ms
    return () => performance.now() > until
  }
  await sample(after(500))
  const baseline = await sample(after(lengthMs / 2))
  const over = after(lengthMs)
  const before = memoryOf()
  let most = before
  const watching = setInterval(() => {
    most = Math.max(most, memoryOf())
  }, 50)
  const attacked: Answer[] = []
  const attacks = Array.from({ length: connections }, async (_, connection) => {
    for (let round = 0; !over(); round += 1) {
      const answer = await attack(connection, round)
      attacked.push(answer)
      if (answer.status === 429) await sleep(10)
    }
  })
  await sleep(300)
  const flooded = await sample(over)
  await Promise.all(attacks)
  clearInterval(watching)
  const median = (answers: Answer[]) =>
    percentile(
      answers.map(({ ms }) => ms),
      0.5,
    )
  console.log(
    `${name}: p50 ${median(baseline).toFixed(1)} → ${median(flooded).toFixed(1)} ms (× ${(median(flooded) / median(baseline)).toFixed(1)}), max ${Math.max(...flooded.map(({ ms }) => ms)).toFixed(0)} ms; honest ${statuses(flooded)}; flood ${statuses(attacked)}; memory ${before.toFixed(0)} → ${most.toFixed(0)} MB`,
  )
}

const honestFrom = '198.51.100.7'
const password = 'correct horse battery staple'
const strangersFrom = '203.0.113.9'
const register = async (at: number, from: string) => {
  const body = { name: 'Stranger', email: `stranger${at}@example.com`, password }
  return (await send(from, 'POST', '/auth/register', { body })).data.token as string
}
const strangers = await Promise.all(Array.from({ length: 30 }, (_, at) => register(at, strangersFrom)))
const signedIn = await send(honestFrom, 'POST', '/auth/login', { body: { email: seeded.email, password } })
const { token } = signedIn.data
const [app, , , , , , , small] = seeded.apps
const list = () => send(honestFrom, 'GET', `/licenses?app=${small?.id}`, { token })

const opened = await send(honestFrom, 'POST', '/client/init', {
  body: { appId: app?.appId, secret: app?.secret, version: '1.0.0' },
})
const program = { token: opened.data.session, headers: { 'keyward-app': app?.appId ?? '' } }
await send(honestFrom, 'POST', '/client/license', { ...program, body: { licenseKey: seeded.keys[0] } })
const check = () => send(honestFrom, 'GET', '/client/session', program)

const search = (from: (at: number) => string) => (connection: number) =>
  send(from(connection), 'GET', '/licenses?search=summer%20sale', {
    token: strangers[connection % 30] as string,
  })
await measure('30 accounts search, one address: a list', {
  connections: 120,
  honest: list,
  attack: search(() => strangersFrom),
})
await measure('30 accounts search, 30 networks: a list', {
  connections: 120,
  honest: list,
  attack: search((at) => `203.0.${at % 30}.9`),
})
const exported = (connection: number) =>
  send(strangersFrom, 'GET', `/licenses/export?app=${small?.id}`, { token: connection < 30 ? token : '' })
await measure('one owner exports: a check', { connections: 4, honest: check, attack: exported })

const vendor = await register(100, honestFrom)
const made = await send(honestFrom, 'POST', '/apps', { token: vendor, body: { name: 'Trials' } })
const trialApp = made.data.app
await send(honestFrom, 'POST', `/apps/${trialApp._id}/license-types`, {
  token: vendor,
  body: { name: 'Trial', term: 'first_use', duration: { value: 7, unit: 'days' }, trial: true },
})
const sessions = await Promise.all(
  Array.from({ length: 64 }, (_, at) =>
    send(`2001:db8:${at}::1`, 'POST', '/client/init', {
      body: { appId: trialApp.appId, secret: trialApp.appSecret, version: '1.0.0' },
    }),
  ),
)
await measure('trials from many addresses: a check', {
  connections: 64,
  honest: check,
  attack: (connection, round) =>
    send(
      `2001:db8:${connection.toString(16)}:${Math.floor(round / 90).toString(16)}::1`,
      'POST',
      '/client/trial',
      {
        token: sessions[connection]?.data.session,
        headers: { 'keyward-app': trialApp.appId },
        body: { hwid: `machine-${connection}-${round}` },
      },
    ),
})

const rows = Array.from({ length: 4900 }, (_, at) => `2036-01-01,${'n'.repeat(185)}${at}`)
const csv = ['expiresAt,note', ...rows].join('\n')
const apps = await Promise.all(
  strangers.map(
    async (stranger) =>
      (await send(strangersFrom, 'POST', '/apps', { token: stranger, body: { name: 'A' } })).data.app._id,
  ),
)
await measure('30 concurrent imports: a check', {
  connections: 30,
  honest: check,
  attack: (connection) =>
    send(strangersFrom, 'POST', '/licenses/import', {
      token: strangers[connection] as string,
      body: { app: apps[connection], csv },
    }),
})

agent.destroy()
await server.stop()
rmSync(folder, { recursive: true, force: true })

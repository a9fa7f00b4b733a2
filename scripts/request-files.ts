import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freePort } from '../apps/server/test/free-port.ts'
import { signed, signInProgram } from '../apps/server/test/program-process.ts'
import { callOver } from '../apps/server/test/server-process.ts'
import { newShopSecret, paid, signedRequest } from '../apps/server/test/shop-events.ts'
import { SmtpSink } from '../apps/server/test/smtp-sink.ts'

const source = new URL('../apps/server/src/', import.meta.url).href
const warmUps = 3
const samples = 2
const samplesMost = 8
/** Timers of at least this time are work in the background, such as the activity log once a second. */
const backgroundMs = 500
const restMs = 400
const password = 'correct horse battery staple'
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

let isCounting = false
/** What the background would have done beside a count. */
const held: (() => void)[] = []

/** From now on no timer of that time fires beside a count, however slow the machine is. */
function holdBackground(): void {
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const start = globalThis[name] as (
      callback: (...args: unknown[]) => void,
      ms?: number,
      ...args: unknown[]
    ) => unknown
    const startHeld: typeof start = (callback, ms = 0, ...args) => {
      const call = (...values: unknown[]) =>
        isCounting && ms >= backgroundMs ? void held.push(() => callback(...values)) : callback(...values)
      return start(call, ms, ...args)
    }
    Object.assign(globalThis, { [name]: startHeld })
  }
}

interface World {
  // biome-ignore lint/suspicious/noExplicitAny: what is read of an answer is used at once, and fails if it is missing
  call(method: string, path: string, body?: unknown): Promise<Record<string, any>>
  url: string
  mails: SmtpSink
}

/** The server in this process, on an empty embedded database, with one owner. */
async function start(): Promise<World> {
  const mails = await SmtpSink.start()
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-files-'))
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
  const port = await freePort()
  Object.assign(process.env, {
    ...{ DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: String(port), RATE_LIMITS: 'off', LOG_LEVEL: 'error' },
    ...{ SMTP_URL: `smtp://${mails.host}`, MAIL_FROM: 'keyward@example.com' },
  })
  holdBackground()
  await import('../apps/server/src/run.ts')
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(`${url}/api/health`).catch(() => undefined))?.ok) await pause(20)
  let token: string | undefined
  const call: World['call'] = async (method, path, body) => {
    const { status, json } = await callOver(url, method, path, { body, ...(token && { token }) })
    if (status > 299) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(json)}`)
    return json.data
  }
  const owner = { name: 'Ada', email: 'ada@example.com', password }
  token = (await call('POST', '/auth/register', owner)).token
  const database = new DatabaseSync(join(dataDir, 'keyward.db'))
  // The server may be within a transaction, which only goes on while this thread does not wait.
  while (!trustMails(database)) await pause(20)
  database.close()
  return { url, call, mails }
}

/** Returns false while the database is locked. */
function trustMails(database: DatabaseSync): boolean {
  try {
    database.exec('update owners set mails_trusted = 1')
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode === 5) return false
    throw error
  }
}

/** The requests that are counted, each of which can be repeated. */
async function makeRequests({ url, call, mails }: World): Promise<Record<string, () => Promise<unknown>>> {
  const { app } = await call('POST', '/apps', { name: 'Notes' })
  const newLicense = async () =>
    (await call('POST', '/licenses', { app: app._id, duration: { value: 1, unit: 'months' } })).license
  const license = await newLicense()
  const edited = await newLicense()
  const asked = await newLicense()
  const session = await signInProgram(url, app, license.key, 'one-machine')
  const { licenseType } = await call('POST', `/apps/${app._id}/license-types`, {
    ...{ name: 'Pro', term: 'date', duration: { value: 1, unit: 'months' } },
  })
  const secret = newShopSecret()
  const { shop } = await call('POST', `/apps/${app._id}/shops`, {
    ...{ kind: 'custom', name: 'Own', secret },
    products: [{ product: 'pro', type: licenseType._id }],
  })
  let n = 0
  const program = async (method: string, path: string, headers: object, body?: object) => {
    const { status, json } = await callOver(url, method, path, {
      headers: signed({ ...headers }, body),
      ...(body && { body }),
    })
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(json)}`)
  }
  return {
    check: () => program('GET', '/client/session', session),
    validate: () =>
      program(
        'POST',
        '/client/validate',
        {},
        { appId: app.appId, licenseKey: asked.key, hwid: 'another-machine' },
      ),
    create: newLicense,
    edit: () =>
      call('PUT', `/licenses/${edited._id}`, {
        expiresAt: new Date(Date.now() + 864e5 * (30 + n++)).toISOString(),
      }),
    list: () => call('GET', `/licenses?app=${app._id}`),
    'order until mail': async () => {
      const arrived = mails.received.length
      const { payload, headers } = signedRequest(secret, paid(`order-${n++}`), new Date())
      const answer = await fetch(url + shop.hook, { method: 'POST', body: payload, headers })
      if (!answer.ok) throw new Error(`the hook answered ${answer.status}: ${await answer.text()}`)
      while (mails.received.length === arrived) await pause(20)
    },
  }
}

/**
 * The files of the server with functions that run for one request, after three like it. What began before a count is not in
 * every sample, so a request above its limit is counted again, and files that some sample lacks do not count.
 */
export async function countRequestFiles(limits: Record<string, number>): Promise<Record<string, string[]>> {
  const requests = await makeRequests(await start())
  const inspector = new Session()
  inspector.connect()
  await inspector.post('Profiler.enable')
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const counted: Record<string, string[]> = {}
  for (const [name, request] of Object.entries(requests)) {
    for (let n = 0; n < warmUps; n++) await request()
    let files = await filesOf(request)
    for (let n = 1; n < samples || (n < samplesMost && files.length > (limits[name] ?? 0)); n++) {
      const others = new Set(await filesOf(request))
      files = files.filter((file) => others.has(file))
    }
    counted[name] = files.sort()
  }
  return counted

  async function filesOf(request: () => Promise<unknown>): Promise<string[]> {
    for (const work of held.splice(0)) work()
    await pause(restMs)
    isCounting = true
    await inspector.post('Profiler.takePreciseCoverage')
    await request()
    const { result } = await inspector.post('Profiler.takePreciseCoverage')
    isCounting = false
    return result
      .filter(
        ({ url, functions }) => url.startsWith(source) && functions.some(({ ranges }) => ranges[0]?.count),
      )
      .map(({ url }) => url.slice(source.length))
  }
}

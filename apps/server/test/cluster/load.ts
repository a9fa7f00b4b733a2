import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { address } from './front.ts'

export type Kind = 'write' | 'check' | 'list'

/** One call of the load: when it was sent and answered, in milliseconds, and how; status 0 is a connection that broke. */
export interface Call {
  kind: Kind
  sentAt: number
  answeredAt: number
  status: number
}

/** What the load was told to be stored. */
export interface Acknowledged {
  /** Ids of licenses that were generated. */
  licenses: Set<string>
  /** The newest note of each license that is written again and again. */
  notes: Map<string, number>
}

/** Calls under way at once. A call without an answer in this time counts as failed. */
const writers = 4
const programs = 6
const readers = 2
const timeoutMs = 15_000

interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked by what the load reads of them
  data: any
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** Sends a request to the proxy. A broken or silent connection is an answer with status 0. */
export function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return new Promise<Answer>((resolve) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const ofBody =
      text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }
    const failed = () => resolve({ status: 0, data: undefined })
    const sent = request(
      `${address}/api${path}`,
      { method, agent, headers: { ...ofBody, ...headers } },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', failed)
        response.on('aborted', failed)
        response.on('end', () => {
          const answer = Buffer.concat(parts).toString()
          const isJson = String(response.headers['content-type']).includes('json')
          resolve({ status: response.statusCode ?? 0, data: isJson ? JSON.parse(answer).data : undefined })
        })
      },
    )
    sent.setTimeout(timeoutMs, () => sent.destroy())
    sent.on('error', failed)
    sent.end(text)
  })
}

async function must(answer: Promise<Answer>): Promise<Answer['data']> {
  const { status, data } = await answer
  if (status >= 300 || status === 0) throw new Error(`the server answered ${status}`)
  return data
}

interface App {
  appId: string
  appSecret: string
}

/** Calls at the pace of a busy vendor until it is stopped. */
export class Load {
  readonly calls: Call[] = []
  readonly acknowledged: Acknowledged = { licenses: new Set(), notes: new Map() }
  readonly #owner: Record<string, string>
  readonly #app: App
  #isStopped = false
  #running: Promise<unknown> = Promise.resolve()

  constructor(token: string, app: App) {
    this.#owner = { authorization: `Bearer ${token}` }
    this.#app = app
  }

  /** Registers a vendor with an app. */
  static async prepare(): Promise<Load> {
    const email = `${randomUUID()}@cluster.example`
    const password = randomUUID()
    const { token } = await must(call('POST', '/auth/register', { name: 'Cluster', email, password }))
    const headers = { authorization: `Bearer ${token}` }
    const { app } = await must(call('POST', '/apps', { name: 'Cluster' }, headers))
    return new Load(token, app)
  }

  start(): void {
    const loops = [
      ...Array.from({ length: writers }, (_, at) => this.#write(at)),
      ...Array.from({ length: programs }, (_, at) => this.#check(at)),
      ...Array.from({ length: readers }, () => this.#list()),
    ]
    this.#running = Promise.all(loops)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #timed(kind: Kind, work: () => Promise<Answer>): Promise<Answer> {
    const sentAt = performance.now()
    const answer = await work()
    this.calls.push({ kind, sentAt, answeredAt: performance.now(), status: answer.status })
    return answer
  }

  /** Repeats a write under one key until it is acknowledged, as a careful program does. */
  async #written(method: string, path: string, body: object): Promise<Answer['data']> {
    const headers = { ...this.#owner, 'idempotency-key': randomUUID() }
    for (;;) {
      const { status, data } = await this.#timed('write', () => call(method, path, body, headers))
      if (status >= 200 && status < 300) return data
      const isTransient = status === 0 || status >= 500 || status === 409
      if (!isTransient) throw new Error(`${method} ${path} answered ${status}`)
      if (this.#isStopped) return undefined
      await wait(200)
    }
  }

  async #write(at: number): Promise<void> {
    const expiresAt = new Date(Date.now() + 30 * 86_400_000).toISOString()
    const license = { app: this.#app.appId, expiresAt }
    const own = await this.#written('POST', '/licenses', license)
    const id: string = own.license._id
    for (let round = 1; !this.#isStopped; round += 1) {
      const noted = await this.#written('PUT', `/licenses/${id}`, { note: String(round) })
      if (noted) this.acknowledged.notes.set(id, round)
      const made = await this.#written('POST', '/licenses', { ...license, note: `writer ${at}` })
      if (made) this.acknowledged.licenses.add(made.license._id)
      await wait(20)
    }
  }

  async #check(at: number): Promise<void> {
    const hwid = `cluster-computer-${at}`
    const body = { app: this.#app.appId, expiresAt: new Date(Date.now() + 30 * 86_400_000).toISOString() }
    const { license } = await this.#written('POST', '/licenses', body)
    let session: string | undefined
    while (!this.#isStopped) {
      session ??= await this.#signIn(license.key, hwid)
      if (session) {
        const headers = signed(undefined, {
          authorization: `Bearer ${session}`,
          'keyward-app': this.#app.appId,
        })
        const { status } = await this.#timed('check', () =>
          call('GET', '/client/session', undefined, headers),
        )
        if (status === 401) session = undefined
      }
      await wait(session ? 50 : 200)
    }
  }

  async #signIn(licenseKey: string, hwid: string): Promise<string | undefined> {
    const { appId, appSecret } = this.#app
    const first = { appId, secret: appSecret, version: '1.0.0' }
    const opened = await this.#timed('check', () => call('POST', '/client/init', first, signed(first)))
    if (opened.status !== 200) return undefined
    const session: string = opened.data.session
    const proof = { licenseKey, hwid }
    const headers = signed(proof, { authorization: `Bearer ${session}`, 'keyward-app': appId })
    const done = await this.#timed('check', () => call('POST', '/client/license', proof, headers))
    return done.status === 200 ? session : undefined
  }

  async #list(): Promise<void> {
    while (!this.#isStopped) {
      await this.#timed('list', () => call('GET', '/licenses?limit=20', undefined, this.#owner))
      await wait(100)
    }
  }
}

function signed(body: object | undefined, headers: Record<string, string> = {}): Record<string, string> {
  const nonce = { 'keyward-nonce': randomBytes(18).toString('base64url') }
  if (body === undefined) return { ...headers, ...nonce }
  const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64')
  return { ...headers, ...nonce, 'content-digest': `sha-256=:${digest}:` }
}

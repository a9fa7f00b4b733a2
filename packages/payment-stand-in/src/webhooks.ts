import { randomInt } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { EventName } from './entities.ts'
import { makeCode } from './ids.ts'
import type { Subjects } from './ledger.ts'
import { sign } from './signatures.ts'

/** An event with its body. */
export interface WebhookEvent {
  event: EventName
  /** `x-razorpay-event-id`: the same for every delivery of an event. */
  eventId: string
  /** The raw body, which the signature covers. */
  body: string
  signature: string
  /** The result of each delivery. */
  deliveries: Delivery[]
}

/** The result of a delivery; status 0 without a response. */
export interface Delivery {
  status: number
  body: string
  tookMs: number
}

/** What to send instead of the event's own values; `null` omits a header. A changed body keeps the old signature. */
export interface Disguise {
  signature?: string | null
  eventId?: string | null
  body?: string
  url?: string
}

export interface DeliverAllOptions {
  order?: 'as-is' | 'reversed' | 'shuffled' | ((events: WebhookEvent[]) => WebhookEvent[])
  /** Extra copies of each event; default 0. */
  duplicates?: number
  /** Whether to deliver all at once instead of one after the other. */
  concurrent?: boolean
  /** Whether to deliver events again that were answered with 2xx. */
  again?: boolean
}

/** How events are delivered automatically. */
export interface AutoDelivery {
  delayMs?: number | ((event: WebhookEvent) => number)
  /** Events that never arrive. */
  lose?: (event: WebhookEvent) => boolean
  /** Extra copies of each event. */
  duplicate?: number
  /** How often a failed delivery is retried. */
  retries?: number
}

// Entities per event type, in the order of https://razorpay.com/docs/webhooks/payloads
const contains: Record<string, (keyof Subjects)[]> = {
  payment: ['payment'],
  order: ['payment', 'order'],
  refund: ['refund', 'payment'],
  'payment.dispute': ['payment', 'dispute'],
}

/** Creates events and delivers them: https://razorpay.com/docs/webhooks/best-practices */
export class Webhooks {
  readonly events: WebhookEvent[] = []
  url: string | undefined
  auto: AutoDelivery | undefined
  readonly #secret: string
  readonly #accountId: string
  readonly #timeoutMs: number
  readonly #closing = new AbortController()
  #lastInTurn: Promise<unknown> = Promise.resolve()
  #running = new Set<Promise<unknown>>()

  constructor(options: { secret: string; accountId: string; timeoutMs: number }) {
    this.#secret = options.secret
    this.#accountId = options.accountId
    this.#timeoutMs = options.timeoutMs
  }

  emit(event: EventName, subjects: Subjects, now: number): void {
    const kind = event.slice(0, event.lastIndexOf('.'))
    const names = contains[kind] ?? []
    const payload = Object.fromEntries(names.map((name) => [name, { entity: subjects[name] }]))
    const body = JSON.stringify({
      entity: 'event',
      account_id: this.#accountId,
      event,
      contains: names,
      payload,
      created_at: now,
    })
    const made = { event, eventId: makeCode(), body, signature: sign(this.#secret, body), deliveries: [] }
    this.events.push(made)
    if (this.auto) this.#deliverItself(made, this.auto)
  }

  /** Delivers one event, as is or disguised. */
  async deliver(event: WebhookEvent, disguise: Disguise = {}): Promise<Delivery> {
    const url = disguise.url ?? this.url
    if (!url) throw new Error('No webhook URL is set')
    const { signature = event.signature, eventId = event.eventId, body = event.body } = disguise
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (signature !== null) headers['x-razorpay-signature'] = signature
    if (eventId !== null) headers['x-razorpay-event-id'] = eventId
    const delivery = await post(url, headers, body, this.#timeoutMs, this.#closing.signal)
    event.deliveries.push(delivery)
    return delivery
  }

  async deliverAll(options: DeliverAllOptions = {}): Promise<(Delivery & { event: WebhookEvent })[]> {
    const { order = 'as-is', duplicates = 0, concurrent = false, again = false } = options
    const chosen = this.events
      .filter((event) => again || !event.deliveries.some(isAccepted))
      .flatMap((event) => Array.from({ length: 1 + duplicates }, () => event))
    const sorted = typeof order === 'function' ? order(chosen) : sort(chosen, order)
    const send = async (event: WebhookEvent) => ({ ...(await this.deliver(event)), event })
    if (concurrent) return Promise.all(sorted.map(send))
    const answers = []
    for (const event of sorted) answers.push(await send(event))
    return answers
  }

  #deliverItself(event: WebhookEvent, auto: AutoDelivery): void {
    if (auto.lose?.(event)) return
    const delayMs = typeof auto.delayMs === 'function' ? auto.delayMs(event) : (auto.delayMs ?? 0)
    const send = async () => {
      if (delayMs > 0) await wait(delayMs, undefined, { signal: this.#closing.signal })
      for (let copy = 0; copy <= (auto.duplicate ?? 0); copy += 1) {
        for (let tries = 0; tries <= (auto.retries ?? 0); tries += 1) {
          if (this.#closing.signal.aborted || !this.url) return
          if (isAccepted(await this.deliver(event))) break
        }
      }
    }
    // Without a delay events arrive in order; delayed ones may overtake each other, as real ones do.
    const sent = (delayMs > 0 ? send() : this.#lastInTurn.then(send)).catch(() => undefined)
    if (delayMs === 0) this.#lastInTurn = sent
    this.#running.add(sent)
    sent.finally(() => this.#running.delete(sent))
  }

  /** Resolves when all automatic deliveries, including those that they trigger, have finished. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  async close(): Promise<void> {
    this.auto = undefined
    this.#closing.abort()
    await this.settled()
  }
}

const isAccepted = ({ status }: Delivery) => status >= 200 && status < 300

function sort(events: WebhookEvent[], order: 'as-is' | 'reversed' | 'shuffled'): WebhookEvent[] {
  if (order === 'reversed') return events.toReversed()
  const sorted = [...events]
  if (order === 'shuffled')
    for (let last = sorted.length - 1; last > 0; last -= 1) {
      const other = randomInt(last + 1)
      ;[sorted[last], sorted[other]] = [sorted[other]!, sorted[last]!]
    }
  return sorted
}

function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  timeoutMs: number,
  closing: AbortSignal,
): Promise<Delivery> {
  const startedAt = performance.now()
  const signal = AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)])
  return new Promise((resolve) => {
    const settle = (status: number, text: string) =>
      resolve({ status, body: text, tookMs: performance.now() - startedAt })
    const outgoing = request(url, {
      method: 'POST',
      agent: false,
      signal,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    })
    outgoing.on('error', (error) => settle(0, error.message))
    outgoing.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', (error) => settle(0, error.message))
      response.on('end', () => settle(response.statusCode ?? 0, text))
    })
    outgoing.end(body)
  })
}

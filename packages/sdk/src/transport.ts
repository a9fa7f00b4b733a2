import { platform } from '#platform'
import { fromUtf8, toBase64Url, toUtf8 } from './bytes.ts'
import { KeywardError, KeywardNetworkError } from './errors.ts'
import { type Exchange, exchange } from './http.ts'
import type { KeyRing } from './keys.ts'
import { contentDigest, isSigned, judge, type ReceivedAnswer, type SentRequest } from './signature.ts'
import type { Fetch, LogEvent, Refused } from './types.ts'

/** Errors that a retry within seconds does not mend. */
const lasting = new Set<string>([
  'unexpected_answer',
  'captive_portal',
  'wrong_address',
  'unknown_app',
  'blocked',
  'certificate',
  'clock',
])

const maxAttempts = 3
const firstPauseMs = 250
const longestPauseMs = 4_000

export interface Call {
  method: 'GET' | 'POST' | 'DELETE'
  /** Path below `/api/client/`. */
  name: string
  body?: Record<string, unknown>
  session?: string
  /** Whether executing the call twice has the same effect as once. */
  repeatable: boolean
}

export interface Delivered {
  ok: true
  message: string | undefined
  data: Record<string, unknown>
}

interface Attempted {
  status: number
  outcome: Delivered | Refused
}

export interface TransportOptions {
  origin: string
  /** Path of the public URL, without a trailing slash. */
  prefix: string
  appId: string
  keys: KeyRing
  fetch: Fetch
  log?: (event: LogEvent) => void
  /** Replaceable, so that tests of retries need neither waiting nor randomness. */
  pause?: (ms: number) => Promise<void>
  random?: () => number
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Sends calls, accepts only signed responses, and retries what is safe to repeat. */
export class Transport {
  readonly #options: TransportOptions
  readonly #pause: (ms: number) => Promise<void>
  readonly #random: () => number
  #serverTime: number | undefined

  constructor(options: TransportOptions) {
    this.#options = options
    this.#pause = options.pause ?? sleep
    this.#random = options.random ?? Math.random
  }

  /** When the server signed its last verdict, in seconds since 1970. The clock of this machine has no part in it. */
  get serverTime(): number | undefined {
    return this.#serverTime
  }

  /** `deadline` is a time of `performance.now()`; no attempt or pause exceeds it. */
  async send(call: Call, deadline: number): Promise<Delivered | Refused> {
    for (let attempt = 1; ; attempt++) {
      const startedAt = performance.now()
      try {
        const { status, outcome } = await this.#attempt(call, attempt, deadline)
        this.#log(call, { event: 'response', attempt, status, ...since(startedAt), ...toRefusal(outcome) })
        return outcome
      } catch (error) {
        const pauseMs = this.#pauseBeforeNext(call, attempt, error)
        const again = pauseMs !== undefined && performance.now() + pauseMs < deadline
        const facts = { attempt, ...since(startedAt), ...toFailure(error) }
        if (!again) {
          this.#log(call, { event: 'failed', ...facts })
          throw error
        }
        this.#log(call, { event: 'retry', ...facts, delayMs: Math.round(pauseMs) })
        await this.#pause(pauseMs)
      }
    }
  }

  /** Only the first part of a name: the others are ids. */
  #log({ name }: Call, event: Omit<LogEvent, 'call'>): void {
    const { event: kind, ...facts } = event
    this.#options.log?.({ event: kind, call: name.split('/')[0] as string, ...facts })
  }

  /** Undefined if the call must not be repeated. */
  #pauseBeforeNext(call: Call, attempt: number, error: unknown): number | undefined {
    if (!(error instanceof KeywardNetworkError)) return undefined
    if (attempt === maxAttempts || !mayRepeat(call, error)) return undefined
    return this.#pauseMs(attempt, error.retryAfterMs)
  }

  #pauseMs(attempt: number, retryAfterMs = 0): number {
    const ceiling = Math.min(longestPauseMs, firstPauseMs * 2 ** attempt)
    return retryAfterMs + ceiling * (0.5 + this.#random() / 2)
  }

  async #attempt(call: Call, attempt: number, deadline: number): Promise<Attempted> {
    const { fetch, keys } = this.#options
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) {
      throw new KeywardNetworkError('timed_out', 'The time for this call is used up', {
        outcomeUnknown: false,
      })
    }
    // Leave time for a retry, so that one hanging connection does not use up the whole timeout.
    const attemptMs = call.repeatable && attempt < maxAttempts ? leftMs / 2 : leftMs
    const { request, sent } = await this.#prepare(call)
    this.#log(call, { event: 'request', attempt })
    const answer = await exchange(fetch, request, Math.ceil(attemptMs))
    const { outcome, created } = await judge(sent, answer, keys)
    if (outcome === 'unavailable') throw toUnavailable(answer)
    this.#serverTime = created
    return { status: answer.status, outcome: toOutcome(answer) }
  }

  async #prepare(call: Call): Promise<{ request: Exchange; sent: SentRequest }> {
    const { origin, prefix, appId, keys } = this.#options
    const path = `${prefix}/api/client/${call.name}`
    const nonce = toBase64Url(platform.randomBytes(24))
    const sent: SentRequest = { method: call.method, path, nonce }
    // The digest covers the bytes on the wire, and fetch would decompress them.
    const headers: Record<string, string> = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'keyward-nonce': nonce,
      'keyward-keys': [...keys.keys()].join(','),
      ...(platform.userAgent === undefined ? {} : { 'user-agent': platform.userAgent }),
    }
    if (call.session !== undefined) {
      sent.authorization = `Bearer ${call.session}`
      headers.authorization = sent.authorization
      headers['keyward-app'] = appId
    }
    let body: string | undefined
    if (call.body !== undefined) {
      body = JSON.stringify(call.body)
      sent.contentDigest = await contentDigest(toUtf8(body))
      headers['content-type'] = 'application/json'
      headers['content-digest'] = sent.contentDigest
    }
    return { request: { url: origin + path, method: call.method, headers, body }, sent }
  }
}

const since = (startedAt: number) => ({ durationMs: Math.round(performance.now() - startedAt) })

/** The code and the reference of a refusal, which `validate` has in its data. */
function toRefusal(outcome: Delivered | Refused): Pick<LogEvent, 'code' | 'reference'> {
  const { code, reference } = outcome.ok ? outcome.data : outcome
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof reference === 'string' ? { reference } : {}),
  }
}

function toFailure(error: unknown): Pick<LogEvent, 'code' | 'status'> {
  if (!(error instanceof KeywardError)) return {}
  const { status } = error as { status?: unknown }
  return { code: error.code, ...(typeof status === 'number' ? { status } : {}) }
}

/**
 * A signed 429 was sent before any work, so even non-repeatable calls can be retried. A proxy may send an unsigned one
 * after it lost the answer of a request that it passed on.
 */
function mayRepeat(call: Call, error: KeywardNetworkError): boolean {
  // A proxy that rejects the credentials would lock their account after a few more attempts.
  if (lasting.has(error.code) || error.status === 407) return false
  return call.repeatable || !error.outcomeUnknown
}

function toUnavailable(answer: ReceivedAnswer): KeywardNetworkError {
  const { status } = answer
  const retryAfterMs = parseRetryAfter(answer.headers.get('retry-after'))
  const wait = retryAfterMs ? `in ${Math.ceil(retryAfterMs / 1000)} seconds` : 'later'
  return status === 429
    ? new KeywardNetworkError('rate_limited', `Too many attempts; try again ${wait}`, {
        status,
        retryAfterMs,
        // Without a signature anyone may have sent this after the server executed the request.
        outcomeUnknown: !isSigned(answer),
      })
    : new KeywardNetworkError('server_error', `The server answered ${status}`, {
        status,
        retryAfterMs,
        outcomeUnknown: true,
      })
}

function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}

function toOutcome(answer: ReceivedAnswer): Delivered | Refused {
  const answered = parseObject(fromUtf8(answer.body))
  const message = typeof answered?.message === 'string' ? answered.message : undefined
  if (answer.status < 300 && answered?.success === true) {
    const { data } = answered
    return { ok: true, message, data: isObject(data) ? data : {} }
  }
  if (answer.status >= 400 && answered?.success === false && typeof answered.code === 'string') {
    const refused: Refused = { ok: false, code: answered.code, message: message ?? answered.code }
    if (Array.isArray(answered.errors)) refused.errors = answered.errors as Refused['errors']
    Object.assign(refused, refusalFacts(answered))
    return refused
  }
  throw new KeywardNetworkError('unexpected_answer', `The answer with status ${answer.status} is unknown`, {
    status: answer.status,
    outcomeUnknown: true,
  })
}

/** What a refusal carries besides code and text. */
export function refusalFacts(from: Record<string, unknown>): Pick<Refused, 'reference' | 'details'> {
  const { reference, details } = from
  return {
    ...(typeof reference === 'string' ? { reference } : {}),
    ...(isObject(details) ? { details } : {}),
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

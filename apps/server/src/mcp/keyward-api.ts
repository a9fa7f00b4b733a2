import { setTimeout as wait } from 'node:timers/promises'
import type { DataOf, Endpoint } from '@keyward/contract'
import { Problem, problem } from '../core/problem.ts'
import { Gate } from '../core/queues/gate.ts'
import { ToolError, toToolError } from './tool-error.ts'

/** The limit of all calls of one tool together, waits for a place included. */
const timeoutMs = 15_000
const retryMs = 200
/** The longest answer lists a thousand devices. */
const answerBytesMax = 2_097_152
/** A server accepts 100 calls of a key at once; what an agent sends beyond these few waits here. */
const places = { running: 8, waiting: 256 }

export interface Settings {
  /** Without a trailing slash. */
  url: string
  apiKey: string
}

export interface Sent {
  params?: Record<string, string>
  query?: Record<string, string | number | undefined>
  body?: unknown
  /** Writes are sent with one, so that a second attempt does not repeat them. */
  idempotencyKey?: string
}

export interface Received<Data> {
  data: Data
  /** Whether an earlier request with the same Idempotency-Key made the change. */
  isRepeat: boolean
}

export interface Calls {
  /** Throws a ToolError if the server refuses, is too slow or is away. */
  call<E extends Endpoint>(endpoint: E, sent?: Sent): Promise<Received<DataOf<E>>>
}

/** Calls the API of a Keyward server as an API key. */
export class KeywardApi {
  readonly #settings: Settings
  readonly #timeoutMs: number
  readonly #closed = new AbortController()
  readonly #gate = new Gate({ ...places, rejection: () => problem('too_many_at_once') })

  constructor(settings: Settings, timeout = timeoutMs) {
    this.#settings = settings
    this.#timeoutMs = timeout
  }

  /** Ends all calls. */
  close(): void {
    this.#closed.abort()
  }

  /** Calls that together take no longer than the time limit. */
  begin(): Calls {
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(this.#timeoutMs)])
    return { call: (endpoint, sent = {}) => this.#call(endpoint, sent, signal) }
  }

  async #call<E extends Endpoint>(
    endpoint: E,
    sent: Sent,
    signal: AbortSignal,
  ): Promise<Received<DataOf<E>>> {
    const leave = await this.#gate.enter('all').catch(toBusy)
    try {
      const { response, answer } = await this.#answer(endpoint, sent, signal)
      if (response.ok && answer.success === true) {
        return {
          data: answer.data as DataOf<E>,
          isRepeat: response.headers.get('idempotent-replay') === 'true',
        }
      }
      throw toToolError({
        status: response.status,
        code: answer.code,
        paths: pathsOf(answer.errors),
        retryAfter: response.headers.get('retry-after'),
        needed: endpoint.permission,
      })
    } catch (error) {
      throw error instanceof ToolError ? error : this.#toUnreachable(endpoint, error, signal)
    } finally {
      leave()
    }
  }

  /** Waits for the same request of another process, and gets its answer. */
  async #answer(endpoint: Endpoint, sent: Sent, signal: AbortSignal) {
    for (;;) {
      const response = await this.#attempt(endpoint, sent, signal)
      const answer = await readJson(response)
      if (answer.code !== 'request_running') return { response, answer }
      await wait(retryMs, undefined, { signal })
    }
  }

  /** A kept connection may have been closed by the server, so a request that finds it so is sent once more. */
  async #attempt(endpoint: Endpoint, sent: Sent, signal: AbortSignal): Promise<Response> {
    const isSafe = endpoint.method === 'GET' || sent.idempotencyKey !== undefined
    try {
      return await this.#send(endpoint, sent, signal)
    } catch (error) {
      if (!isSafe || signal.aborted) throw error
      return await this.#send(endpoint, sent, signal)
    }
  }

  #send(endpoint: Endpoint, { params = {}, query = {}, body, idempotencyKey }: Sent, signal: AbortSignal) {
    const path = endpoint.path.replace(/:(\w+)/g, (_all, name) => encodeURIComponent(params[name] ?? ''))
    const filters = Object.entries(query).filter(([, value]) => value !== undefined)
    const search = new URLSearchParams(filters.map(([name, value]) => [name, String(value)]))
    return fetch(`${this.#settings.url}/api${path}${search.size > 0 ? `?${search}` : ''}`, {
      method: endpoint.method,
      headers: {
        authorization: `Bearer ${this.#settings.apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A redirect would carry the key to another address.
      redirect: 'error',
      signal,
    })
  }

  /** The cause is not repeated: it may name the address with what it contains. */
  #toUnreachable({ method }: Endpoint, error: unknown, signal: AbortSignal): ToolError {
    if (error instanceof AnswerError) return new ToolError(error.message)
    const isLate = signal.aborted && !this.#closed.signal.aborted
    const what = isLate ? `did not answer within ${this.#timeoutMs / 1000} seconds` : 'cannot be reached'
    const doubt =
      method === 'GET'
        ? ''
        : ' The change may have been made or not: make the same call again, which does not make it twice.'
    return new ToolError(`The Keyward server ${what}.${doubt}`)
  }
}

class AnswerError extends Error {}

function toBusy(error: unknown): never {
  if (error instanceof Problem) throw new ToolError('Too many calls wait already. Try again in a moment.')
  throw error
}

async function readJson(response: Response): Promise<Record<string, unknown>> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.byteLength
    if (bytes > answerBytesMax) throw new AnswerError('The answer of the Keyward server is too long.')
    parts.push(part)
  }
  try {
    const answer: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'))
    if (typeof answer === 'object' && answer !== null) return answer as Record<string, unknown>
  } catch {}
  throw new AnswerError(
    `The address answers with the status ${response.status} and no JSON: it may not be a Keyward server of this version.`,
  )
}

const pathsOf = (errors: unknown): string[] =>
  Array.isArray(errors) ? errors.flatMap((one) => (typeof one?.path === 'string' ? [one.path] : [])) : []

import type { BodyInputOf, DataOf, Endpoint, ErrorCode, ParamsOf, QueryInputOf } from '@keyward/contract'
import { createListeners } from '../browser/listeners.ts'
import { base } from '../navigation/base.ts'
import { noteNoResponse, noteResponse } from './connection.ts'
import { noteFactorRequired } from './factor-required.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import { confirmIdentity } from './identity.ts'
import { noteServerTime } from './server-time.ts'
import { ownerSession, resellerSession, type Session } from './session.ts'
import type { Wire } from './wire.ts'

export interface FieldError {
  path: string
  message: string
}

/** An error response of the server, or no response (status 0). */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly fields: FieldError[]
  /** When the server asks to call again. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    facts: {
      status: number
      code: string
      fields?: FieldError[]
      retryAfterSeconds?: number | undefined
      cause?: unknown
    },
  ) {
    super(message, { cause: facts.cause })
    this.status = facts.status
    this.code = facts.code
    this.fields = facts.fields ?? []
    this.retryAfterSeconds = facts.retryAfterSeconds
  }
}

export const isNetworkError = (error: unknown) => error instanceof ApiError && error.status === 0

export const hasCode = (error: unknown, code: ErrorCode) => error instanceof ApiError && error.code === code

/**
 * Whether the server rejected what a request asks for. A caller who must sign in again or wait learns nothing about an
 * earlier request with the same key, which may have been carried out.
 */
export const isRejected = (error: unknown) =>
  error instanceof ApiError &&
  error.status >= 400 &&
  error.status < 500 &&
  error.status !== 401 &&
  error.status !== 429 &&
  error.code !== ('request_running' satisfies ErrorCode)

/** The server rejected parts of what was sent. */
export const hasFieldErrors = (error: unknown) => error instanceof ApiError && error.fields.length > 0

/** What the server says about a field. */
export const fieldMessage = (error: unknown, path: string): string | undefined =>
  error instanceof ApiError ? error.fields.find((field) => field.path === path)?.message : undefined

/** Nothing was saved, because another editor has changed what the caller saw. */
export const isEditConflict = (error: unknown) =>
  error instanceof ApiError && error.status === 409 && error.code.endsWith('_changed')

/** The message of an API error; the fallback for other errors. */
export function messageOf(error: unknown, fallback: string): string {
  return error instanceof ApiError && error.message ? error.message : fallback
}

type Part<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : undefined extends Value
    ? { [K in Name]?: Value }
    : // biome-ignore lint/complexity/noBannedTypes: asks whether nothing in it is required
      {} extends Value
      ? { [K in Name]?: Value }
      : { [K in Name]: Value }

/** The parts of a request that the endpoint accepts. */
export type InputOf<E> = Part<'params', ParamsOf<E>> &
  Part<'query', QueryInputOf<E>> &
  Part<'body', BodyInputOf<E>> &
  Extra

interface Extra {
  signal?: AbortSignal
  /** For endpoints that accept one: a repeat with the same key changes nothing again. */
  idempotencyKey?: string
  /** The body of an upload. */
  file?: Blob
}

interface Loose extends Extra {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

type Args<E> = [unknown] extends [Omit<InputOf<E>, keyof Extra>]
  ? [input?: InputOf<E>]
  : // biome-ignore lint/complexity/noBannedTypes: asks whether nothing in it is required
    {} extends InputOf<E>
    ? [input?: InputOf<E>]
    : [input: InputOf<E>]

const sessions: Partial<Record<Endpoint['access'], Session>> = {
  owner: ownerSession,
  reseller: resellerSession,
}
const rightsListeners = createListeners()
const expiryListeners = createListeners<[session: Session, endpoint: Wire]>()

/** The listener runs after the server rejected a token, which is removed by then. */
export const onSessionExpired = expiryListeners.subscribe

/** The listener runs after the server refused a call that the signed-in person may not make any more. */
export const onRightMissing = rightsListeners.subscribe

/** Calls an endpoint and returns its `data` and the server's `message`. */
export async function callWithMessage<E extends Endpoint>(
  endpoint: Wire<E>,
  ...[input]: Args<E>
): Promise<{ data: DataOf<E>; message: string | undefined }> {
  const response = await request(endpoint, input as Loose)
  const answer = await response.json().catch(() => null)
  if (answer?.success) return { data: answer.data, message: answer.message }
  throw toApiError(response, answer)
}

/** Calls an endpoint that responds with a file, and returns the response. */
export async function callForFile<E extends Endpoint>(
  endpoint: Wire<E>,
  ...[input]: Args<E>
): Promise<Response> {
  return request(endpoint, input as Loose)
}

/**
 * Keys of writes without an answer, which may have been carried out: the same request carries the same key again. Later
 * than this it is a new request, by a person who sees what the first one did.
 */
const unanswered = new Map<string, { key: string; since: number }>()
const unansweredMs = 2 * 60_000

/** A successful response. Every write carries an Idempotency-Key; calls that accept none ignore it. */
async function request(endpoint: Wire, input: Loose = {}): Promise<Response> {
  const { params, query, body, file, signal } = input
  if (isRead(endpoint) || file || input.idempotencyKey) return confirmed(endpoint, input)
  const name = JSON.stringify([endpoint.method, endpoint.path, params, query, body])
  const last = unanswered.get(name)
  const now = performance.now()
  const kept = last && now - last.since < unansweredMs ? last : { key: newIdempotencyKey(), since: now }
  unanswered.set(name, kept)
  try {
    const response = await confirmed(endpoint, { ...input, idempotencyKey: kept.key })
    unanswered.delete(name)
    return response
  } catch (error) {
    if (isRejected(error) || signal?.aborted) unanswered.delete(name)
    throw error
  }
}

const isRead = ({ method = 'GET' }: Wire) => method === 'GET'

/** Where the server first asks for proof of identity, the call is repeated once after it. */
async function confirmed(endpoint: Wire, input: Loose): Promise<Response> {
  try {
    return await requestOnce(endpoint, input)
  } catch (error) {
    const session = sessions[endpoint.access ?? 'owner']
    if (!session || !hasCode(error, 'confirm_identity') || !(await confirmIdentity(session))) throw error
    return requestOnce(endpoint, input)
  }
}

async function requestOnce(
  endpoint: Wire,
  { params, query, body, signal, idempotencyKey, file }: Loose,
): Promise<Response> {
  const session = sessions[endpoint.access ?? 'owner']
  const token = session?.get() ?? null
  const headers: Record<string, string> = { accept: 'application/json' }
  if (token) headers.authorization = `Bearer ${token}`
  if (endpoint.hasBody) headers['content-type'] = 'application/json'
  if (file) headers['content-type'] = 'application/octet-stream'
  if (idempotencyKey) headers['idempotency-key'] = `"${idempotencyKey}"`

  const response = await send(urlOf(endpoint.path, params, query), {
    method: endpoint.method,
    headers,
    body: file ?? (endpoint.hasBody ? JSON.stringify(body ?? {}) : undefined),
    signal,
  })
  if (response.ok) return response
  const error = toApiError(response, await response.json().catch(() => null))
  if (hasCode(error, 'unauthorized') && session && token && session.get() === token) {
    session.set(null)
    expiryListeners.notify(session, endpoint)
  }
  if (hasCode(error, 'permission_missing')) rightsListeners.notify()
  if (hasCode(error, 'second_factor_required')) noteFactorRequired()
  throw error
}

/** Calls an endpoint and returns its `data`. */
export async function call<E extends Endpoint>(endpoint: Wire<E>, ...args: Args<E>): Promise<DataOf<E>> {
  return (await callWithMessage(endpoint, ...args)).data
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init)
    noteResponse()
    noteServerTime(response)
    return response
  } catch (cause) {
    if (init.signal?.aborted) throw cause
    noteNoResponse()
    throw new ApiError('The server cannot be reached. Please check your connection.', {
      status: 0,
      code: 'network',
      cause,
    })
  }
}

function urlOf(path: string, params: Loose['params'] = {}, query: Loose['query'] = {}): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  return `${base}/api${filled}${search.size > 0 ? `?${search}` : ''}`
}

function toApiError({ status, headers }: Response, body: unknown): ApiError {
  const { code, message, errors } = (body ?? {}) as {
    code?: string
    message?: string
    errors?: { path?: string; message?: string; msg?: string }[]
  }
  const fields = (errors ?? []).map((issue) => ({
    path: issue.path ?? '',
    message: issue.message ?? issue.msg ?? '',
  }))
  const joined = fields
    .map((field) => field.message)
    .filter(Boolean)
    .join(', ')
  // Leave the message empty when only the body says that it failed: the caller's text is used instead.
  const fallback = status < 300 ? '' : `HTTP error! status: ${status}`
  return new ApiError(joined || message || fallback, {
    status,
    code: code ?? `http_${status}`,
    fields,
    retryAfterSeconds: Number(headers.get('retry-after')) || undefined,
  })
}

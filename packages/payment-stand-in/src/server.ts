import type { IncomingMessage, ServerResponse } from 'node:http'
import { respond } from './api.ts'
import { checkoutScript } from './checkout.ts'
import { Refusal, refuse, refuseKey, refuseKeys } from './errors.ts'
import { type Fault, type FaultMode, type Faults, toRefusal } from './faults.ts'
import type { Ledger } from './ledger.ts'
import type { Attempt } from './payments.ts'
import { isAuthorized } from './signatures.ts'

/** A call of the API, as the provider received it. */
export interface Call {
  method: string
  path: string
  query: string
  body: Record<string, unknown>
  refundKey: string | undefined
  /** The response status, even if the response was lost; 0 if nothing was done. */
  status: number
  fault: FaultMode | undefined
}

export interface ServerOptions {
  keyId: string
  keySecret: string
  ledger: Ledger
  faults: Faults
  calls: Call[]
  baseUrl(): string
  /** Pays as a customer in the checkout's window. */
  pay(orderId: string, attempt: Attempt): unknown
}

/** Serves the provider's API, the checkout's script, and what the script calls. */
export function createHandler(options: ServerOptions) {
  const keysAtWork = new Set<string>()
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const method = request.method ?? 'GET'
    try {
      const text = await readBody(request)
      if (url.pathname === '/v1/checkout.js')
        return send(response, 200, checkoutScript(options.baseUrl()), 'text/javascript')
      if (url.pathname === '/control/pay') return control(options, method, text, response)
      await answerCall(options, keysAtWork, request, response, { method, url, text })
    } catch (error) {
      // The caller disconnected or the response was cut: nothing can be sent.
      if (!response.headersSent && !response.destroyed)
        send(response, 500, JSON.stringify({ error: { code: 'SERVER_ERROR', description: String(error) } }))
    }
  }
}

async function answerCall(
  { ledger, faults, calls, keyId, keySecret }: ServerOptions,
  keysAtWork: Set<string>,
  request: IncomingMessage,
  response: ServerResponse,
  { method, url, text }: { method: string; url: URL; text: string },
): Promise<void> {
  const refundKey = request.headers['x-refund-idempotency']?.toString()
  const fault = faults.take(method, url.pathname)
  const call: Call = {
    method,
    path: url.pathname,
    query: url.search,
    body: {},
    refundKey,
    status: 0,
    fault: fault?.rule.mode,
  }
  calls.push(call)
  if (fault?.rule.mode === 'hang') await fault.released
  if (response.destroyed) return
  if (fault?.rule.mode === 'reset') return void request.socket.resetAndDestroy()
  const holdsKey = refundKey !== undefined && !keysAtWork.has(refundKey)
  const answer = attempt(() => {
    if (fault?.rule.mode === 'status') throw toRefusal(fault.rule)
    if (!isAuthorized(request.headers.authorization, keyId, keySecret)) throw refuseKeys()
    if (refundKey !== undefined && !holdsKey)
      throw refuseKey('Another request with the same idempotency key is still in progress.', 409)
    call.body = parseBody(text)
    return respond(ledger, {
      method,
      path: url.pathname,
      query: url.searchParams,
      body: call.body,
      refundKey,
    })
  })
  call.status = answer.status
  if (holdsKey) keysAtWork.add(refundKey)
  try {
    await sendMaybe(response, answer, fault)
  } finally {
    if (holdsKey) keysAtWork.delete(refundKey)
  }
}

async function sendMaybe(
  response: ServerResponse,
  answer: { status: number; body: string },
  fault: Fault | undefined,
): Promise<void> {
  if (fault?.rule.mode === 'lost-answer') return void response.destroy()
  if (fault?.rule.mode === 'late-answer') await fault.released
  if (response.destroyed) return
  const page = fault?.rule.mode === 'status' ? fault.rule.body : undefined
  if (page !== undefined) send(response, answer.status, page, 'text/html')
  else send(response, answer.status, answer.body)
}

function attempt(work: () => unknown): { status: number; body: string } {
  try {
    return { status: 200, body: JSON.stringify(work()) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { status: error.status, body: JSON.stringify(error.body) }
  }
}

/** The checkout's window posts payments here, from any page. */
function control(options: ServerOptions, method: string, text: string, response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('access-control-allow-headers', 'content-type')
  response.setHeader('access-control-allow-private-network', 'true')
  if (method === 'OPTIONS') {
    send(response, 204, '')
    return
  }
  const { status, body } = attempt(() => {
    if (method !== 'POST') throw refuse('Only POST is possible here', {}, 405)
    const asked = parseBody(text)
    if (asked.key !== options.keyId) throw refuseKeys()
    const { order_id: orderId, status: wanted = 'captured', method: means } = asked
    return options.pay(String(orderId), { status: wanted, method: means } as Attempt)
  })
  send(response, status, body)
}

function send(response: ServerResponse, status: number, body: string, type = 'application/json'): void {
  response.writeHead(status, { 'content-type': type }).end(body)
}

function parseBody(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {}
  throw refuse('The request body is not valid JSON.')
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

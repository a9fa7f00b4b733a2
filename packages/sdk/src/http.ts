import { concat } from './bytes.ts'
import { toCertificateError } from './certificates.ts'
import { KeywardNetworkError } from './errors.ts'
import { maxAnswerBytes, type ReceivedAnswer } from './signature.ts'
import type { Fetch, FetchResponse } from './types.ts'

/** Errors before a connection was established, so the server cannot have received the request. */
const neverSent = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
])

export interface Exchange {
  url: string
  method: string
  headers: Record<string, string>
  body: string | undefined
}

/**
 * Sends one request and reads the whole response, whatever its status, within `timeoutMs`. Does not follow redirects:
 * the signature covers the requested path. Throws `KeywardNetworkError`.
 */
export async function exchange(fetch: Fetch, request: Exchange, timeoutMs: number): Promise<ReceivedAnswer> {
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new KeywardNetworkError('timed_out', `No answer from ${request.url} in time`, {
          outcomeUnknown: true,
        }),
      )
      abort.abort()
    }, timeoutMs)
  })
  try {
    return await Promise.race([receive(fetch, request, abort.signal), timeout])
  } catch (error) {
    if (error instanceof KeywardNetworkError) throw error
    throw toNetworkError(error, request.url)
  } finally {
    clearTimeout(timer)
  }
}

async function receive(fetch: Fetch, request: Exchange, signal: AbortSignal): Promise<ReceivedAnswer> {
  const { url, method, headers, body } = request
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    signal,
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, headers: response.headers, body: await readBody(response) }
}

async function readBody(response: FetchResponse): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array()
  const reader = response.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done || value === undefined) return concat(chunks)
    chunks.push(value)
    size += value.byteLength
    if (size > maxAnswerBytes) {
      // The rest is not needed, and a failed cancellation does not matter.
      reader.cancel().catch(() => {})
      return concat(chunks)
    }
  }
}

export function toNetworkError(error: unknown, url: string): KeywardNetworkError {
  const codes = causeCodes(error)
  const rejected = toCertificateError(codes, url, error)
  if (rejected) return rejected
  const sent = codes.length === 0 || codes.some((code) => !neverSent.has(code))
  const reason = codes.length > 0 ? ` (${[...new Set(codes)].join(', ')})` : ''
  return sent
    ? new KeywardNetworkError('connection_lost', `The connection to ${url} broke${reason}`, {
        outcomeUnknown: true,
        cause: error,
      })
    : new KeywardNetworkError('unreachable', `Cannot reach ${url}${reason}`, {
        outcomeUnknown: false,
        cause: error,
      })
}

/** System error codes that caused a failed fetch, for every address that was tried. */
function causeCodes(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 3) return []
  if ('errors' in error && Array.isArray(error.errors) && error.errors.length > 0) {
    return error.errors.flatMap((each) => causeCodes(each, depth + 1))
  }
  if ('code' in error && typeof error.code === 'string') return [error.code]
  // Deno has no code, but names the phase.
  if (error instanceof Error && error.message.includes('client error (Connect)')) return [denoCode(error)]
  return 'cause' in error ? causeCodes(error.cause, depth + 1) : []
}

function denoCode({ message }: Error): string {
  const [, problem] = /invalid peer certificate: (\w+)/.exec(message) ?? []
  if (problem === undefined) return 'ECONNREFUSED'
  return { Expired: 'CERT_HAS_EXPIRED', NotValidYet: 'CERT_NOT_YET_VALID' }[problem] ?? 'CERT_UNTRUSTED'
}

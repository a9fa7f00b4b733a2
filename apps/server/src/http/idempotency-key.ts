import type { IncomingHttpHeaders } from 'node:http'
import { limits } from '@keyward/contract'
import { invalid } from '../core/problem.ts'
import type { KeyedRequest } from '../service/idempotency.ts'

// A string of RFC 9651. Most clients send it without quotes, which is accepted as long as it can mean only one value.
const quoted = /^"([\x20\x21\x23-\x5b\x5d-\x7e]+)"$/
const bare = /^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]+$/

/** The request with its Idempotency-Key; undefined without one. */
export function toKeyedRequest(
  headers: IncomingHttpHeaders,
  request: { method: string; path: string; input: unknown },
): KeyedRequest | undefined {
  const sent = headers['idempotency-key']
  if (sent === undefined) return undefined
  const value = String(sent).trim()
  const key = quoted.exec(value)?.[1] ?? bare.exec(value)?.[0]
  if (key === undefined || key.length > limits.idempotencyKeyMax)
    throw invalid(
      'Idempotency-Key',
      `Idempotency-Key must have 1 to ${limits.idempotencyKeyMax} visible characters without commas, quotes and backslashes`,
    )
  return { key, request: JSON.stringify([request.method, request.path, request.input]) }
}

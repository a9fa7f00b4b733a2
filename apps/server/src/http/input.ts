import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Endpoint, limits } from '@keyward/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Issue, invalid, problem } from '../core/problem.ts'
import type { KeyedRequest } from '../service/idempotency.ts'

// Reject an unexpected body instead of ignoring it.
const noBody = z.strictObject({})

/** Deeper than any endpoint accepts; keeps recursion from overflowing the stack. */
const deepest = 20
const mostIssues = 10
const mostUnknownFields = 10
const longestName = 100

/** Parses params, query and body together, so that all issues are reported at once. */
export function parseInput(endpoint: Endpoint, sent: { params?: unknown; query?: unknown; body: unknown }) {
  const issues: Issue[] = []
  const parse = (schema: z.ZodType | undefined, value: unknown) => {
    if (!schema) return undefined
    const fault = findFault(value, endpoint)
    if (fault) {
      issues.push(fault)
      return undefined
    }
    const result = schema.safeParse(value)
    if (result.success) return result.data
    issues.push(...result.error.issues.slice(0, mostIssues).map(toIssue))
    return undefined
  }
  // Most checks have no body; parsing an empty one would cost them as much as everything else here.
  const parseBody = (body: unknown) =>
    endpoint.body || body !== undefined ? parse(endpoint.body ?? noBody, body ?? {}) : {}
  const input = {
    params: parse(endpoint.params, sent.params),
    query: parse(endpoint.query, sent.query),
    body: parseBody(sent.body ?? undefined),
  }
  if (issues.length > 0) {
    throw problem('invalid_input', { message: issues[0]?.message, issues: issues.slice(0, mostIssues) })
  }
  return input
}

/** Finds what makes a value unsafe to parse. It visits no more values than the call accepts, since zod visits every one. */
function findFault(value: unknown, { valuesMax = limits.bodyValuesMax }: Endpoint): Issue | undefined {
  const tooMany: Issue = { path: '', message: `More than ${valuesMax} values` }
  let seen = 0
  const walk = (part: unknown, path: string, depth: number): Issue | undefined => {
    seen += 1
    if (seen > valuesMax) return tooMany
    // PostgreSQL cannot store NUL, and SQLite's full-text search stops at it.
    if (typeof part === 'string')
      return part.includes('\u0000') ? { path, message: 'NUL characters are not allowed' } : undefined
    if (typeof part !== 'object' || part === null) return undefined
    if (depth === deepest) return { path: '', message: 'Nested too deeply' }
    // Checked before the loop: enumerating the indexes of a huge array is already expensive.
    if (Array.isArray(part) && part.length > valuesMax) return tooMany
    for (const name in part) {
      const inner = (part as Record<string, unknown>)[name]
      const fault = walk(inner, path === '' ? name : `${path}.${name}`, depth + 1)
      if (fault) return { ...fault, path: shorten(fault.path) }
    }
    return undefined
  }
  return walk(value, '', 0)
}

function toIssue(issue: z.core.$ZodIssue): Issue {
  const at = issue.path.map(String)
  if (issue.code !== 'unrecognized_keys') return { path: shorten(at.join('.')), message: issue.message }
  const names = issue.keys.slice(0, mostUnknownFields).map(shorten)
  const rest = issue.keys.length - names.length
  const more = rest > 0 ? ` and ${rest} more` : ''
  return {
    path: shorten([...at, names[0] ?? ''].join('.')),
    message: `Unknown field: ${names.join(', ')}${more}`,
  }
}

const shorten = (name: string): string =>
  name.length > longestName ? `${name.slice(0, longestName)}…` : name

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

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the bytes, whatever they are. */
    raw?: true | undefined
  }
}

/** A body that was read. */
export interface Sent {
  /** For digests and signatures. */
  bytes: Buffer
  /** What it says: an empty body counts as `{}` whatever its content type. */
  value: unknown
}

interface Options {
  limit?: number | undefined
  raw?: true | undefined
  streamed?: true | undefined
}

type ReadBody = (call: { request: FastifyRequest; reply: FastifyReply }) => Promise<Sent> | undefined

const none: Sent = { bytes: Buffer.alloc(0), value: {} }

/**
 * Returns what reads and parses the bodies of an endpoint, because Fastify would take a seventh of a check for it. It
 * accepts only JSON, and has nothing to read of a request without a body.
 */
export function bodyReader(
  server: FastifyInstance,
  { limit = limits.bodyBytesMax, raw: isRaw, streamed }: Options = {},
): ReadBody {
  const parseJson = server.getDefaultJsonParser('error', 'error')
  const parse = (request: FastifyRequest, bytes: Buffer): Sent => {
    if (bytes.length === 0 || isRaw) return { bytes, value: {} }
    if (!isJson(request.raw.headers)) throw problem('unsupported_media_type')
    let value: unknown
    // It calls back at once.
    parseJson(request, bytes.toString('utf8'), (fault, parsed) => {
      if (fault) throw problem('invalid_json')
      value = parsed
    })
    return { bytes, value }
  }
  const read = ({ request, reply }: Parameters<ReadBody>[0]): Promise<Sent> =>
    new Promise((resolve, reject) => {
      const refuse = (error: unknown): void => {
        // More of the body may arrive.
        reply.header('connection', 'close')
        reject(error)
      }
      const { raw } = request
      if (Number(raw.headers['content-length']) > limit) return refuse(problem('payload_too_large'))
      if (streamed) return resolve(none)
      if (raw.destroyed) return refuse(problem('bad_request'))
      readBytes(raw, limit, refuse, (bytes) => {
        try {
          resolve(parse(request, bytes))
        } catch (error) {
          refuse(error)
        }
      })
    })
  return (call) => (isEmpty(call.request.raw.headers) ? undefined : read(call))
}

const isEmpty = (headers: IncomingHttpHeaders): boolean =>
  (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined

/** What a body may have; a length that is too large is refused before it is read. */
export function announcedBytes(headers: IncomingHttpHeaders, limit: number): number {
  if (headers['transfer-encoding'] !== undefined) return limit
  const announced = Number(headers['content-length'] ?? 0)
  return announced > limit ? 0 : announced
}

function isJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return false
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}

/** Reads a body of at most `limit` bytes; when all announced bytes are there, it does not wait for the end. */
function readBytes(
  raw: IncomingMessage,
  limit: number,
  refuse: (error: Error) => void,
  use: (bytes: Buffer) => void,
): void {
  const announced = Number(raw.headers['content-length'])
  const chunks: Buffer[] = []
  let length = 0
  let isOver = false
  const end = (error?: Error): void => {
    if (isOver) return
    isOver = true
    if (error) refuse(error)
    else use(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length))
  }
  raw.on('error', end)
  raw.on('end', end)
  // The only event of a request that this server breaks off.
  raw.on('close', () => isOver || end(problem('bad_request')))
  raw.on('data', (chunk: Buffer) => {
    if (isOver) return
    length += chunk.length
    chunks.push(chunk)
    if (length > limit) end(problem('payload_too_large'))
    else if (length === announced) end()
  })
}

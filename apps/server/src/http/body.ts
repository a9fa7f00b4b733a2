import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { limits } from '@keyward/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../core/problem.ts'

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

const none = Buffer.alloc(0)

/**
 * Returns what reads and parses the bodies of an endpoint, because Fastify would take a seventh of a check for it. It accepts
 * only JSON. A request without a body is read at once, as undefined.
 */
export function bodyReader(
  server: FastifyInstance,
  { limit = limits.bodyBytesMax, raw: isRaw, streamed }: Options = {},
): ReadBody {
  const parseJson = server.getDefaultJsonParser('error', 'error')
  const parse = (request: FastifyRequest, bytes: Buffer): unknown => {
    if (bytes.length === 0 || isRaw) return {}
    if (!isJson(request.raw.headers)) throw problem('unsupported_media_type')
    let parsed: unknown
    // It calls back at once.
    parseJson(request, bytes.toString('utf8'), (fault, value) => {
      if (fault) throw problem('invalid_json')
      parsed = value
    })
    return parsed
  }
  const read = async ({ request, reply }: Parameters<ReadBody>[0]): Promise<Sent> => {
    const { raw } = request
    try {
      if (Number(raw.headers['content-length']) > limit) throw problem('payload_too_large')
      if (streamed) return { bytes: none, value: {} }
      if (raw.destroyed) throw problem('bad_request')
      const bytes = await readBytes(raw, limit)
      return { bytes, value: parse(request, bytes) }
    } catch (error) {
      // More of the body may arrive.
      reply.header('connection', 'close')
      throw error
    }
  }
  return (call) => (isEmpty(call.request.raw.headers) ? undefined : read(call))
}

const isEmpty = (headers: IncomingHttpHeaders): boolean =>
  (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined

function isJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return false
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}

/** Reads a body of at most `limit` bytes; when all announced bytes are there, it does not wait for the end. */
function readBytes(raw: IncomingMessage, limit: number): Promise<Buffer> {
  const announced = Number(raw.headers['content-length'])
  const chunks: Buffer[] = []
  let length = 0
  let isOver = false
  return new Promise((resolve, reject) => {
    const end = (error?: Error): void => {
      if (isOver) return
      isOver = true
      if (error) reject(error)
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length))
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
  })
}

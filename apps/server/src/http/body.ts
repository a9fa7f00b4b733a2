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

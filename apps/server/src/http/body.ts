import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { limits } from '@keyward/contract'
import type { FastifyInstance } from 'fastify'
import { problem } from '../core/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The raw bytes of the body, for digests and signatures. */
    rawBody: Buffer | undefined
  }
  interface FastifyContextConfig {
    /** The handler reads the bytes, whatever they are. */
    raw?: true | undefined
    /** The handler reads the bytes as they arrive. */
    streamed?: true | undefined
  }
}

const methodsWithBody = ['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT']

/**
 * Reads and parses bodies, because Fastify would take a seventh of a check for it. Accepts only JSON; an empty body
 * counts as `{}` whatever its content type. Must be installed before the first route.
 */
export function installBodies(server: FastifyInstance): void {
  server.decorateRequest('rawBody', undefined)
  server.removeAllContentTypeParsers()
  for (const method of methodsWithBody) {
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  }
  const parseJson = server.getDefaultJsonParser('error', 'error')
  server.addHook('onRoute', (route) => {
    const methods = [route.method].flat()
    if (!methods.some((method) => methodsWithBody.includes(method))) return
    const limit = route.bodyLimit ?? limits.bodyBytesMax
    route.preParsing = (request, reply, _payload, done) => {
      const { raw } = request
      if (isEmpty(raw.headers)) return done()
      const refuse = (error: Error): void => {
        // More of the body may arrive.
        reply.header('connection', 'close')
        done(error)
      }
      if (route.config?.streamed) {
        if (Number(raw.headers['content-length']) > limit) return refuse(problem('payload_too_large'))
        request.body = {}
        return done()
      }
      readBody(raw, limit, refuse, (body) => {
        request.rawBody = body
        request.body = {}
        if (body.length === 0 || route.config?.raw) return done()
        if (!isJson(raw.headers)) return refuse(problem('unsupported_media_type'))
        parseJson(request, body.toString('utf8'), (fault, value) => {
          request.body = value
          if (fault) refuse(problem('invalid_json'))
          else done()
        })
      })
    }
  })
}

const isEmpty = (headers: IncomingHttpHeaders): boolean =>
  (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined

function isJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return false
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}

type Refuse = (error: Error) => void
type Use = (body: Buffer) => void

/** Reads a body of at most `limit` bytes; when all announced bytes are there, it does not wait for the end. */
function readBody(raw: IncomingMessage, limit: number, refuse: Refuse, use: Use): void {
  const announced = Number(raw.headers['content-length'])
  if (announced > limit) {
    refuse(problem('payload_too_large'))
    return
  }
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
  raw.on('data', (chunk: Buffer) => {
    if (isOver) return
    length += chunk.length
    chunks.push(chunk)
    if (length > limit) end(problem('payload_too_large'))
    else if (length === announced) end()
  })
}

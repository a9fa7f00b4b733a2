import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyInstance, preParsingHookHandler } from 'fastify'
import { problem } from '../core/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The raw bytes of the body, for digests and signatures. */
    rawBody: Buffer | undefined
  }
  interface FastifyContextConfig {
    /**
     * The signature decides whether the body is accepted, so keys such as `__proto__` are removed instead of
     * rejected.
     */
    signed?: true | undefined
  }
}

const methodsWithBody = ['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT']

/**
 * Reads and parses bodies. Accepts only JSON; an empty body counts as `{}` whatever its content type. Fastify's own
 * reading takes a twentieth of a check, because it does not expect that most bodies arrive with their headers. Must be
 * installed before the first route.
 */
export function installBodies(server: FastifyInstance): void {
  server.decorateRequest('rawBody', undefined)
  server.removeAllContentTypeParsers()
  for (const method of methodsWithBody) {
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  }
  const parseStrictly = server.getDefaultJsonParser('error', 'error')
  const parseSigned = server.getDefaultJsonParser('remove', 'remove')
  const parseBody: preParsingHookHandler = (request, reply, _payload, done) => {
    const { raw } = request
    if (isEmpty(raw.headers)) return done()
    const { bodyLimit, config } = request.routeOptions
    const refuse = (error: Error): void => {
      // More of the body may arrive.
      reply.header('connection', 'close')
      done(error)
    }
    readBody(raw, bodyLimit, refuse, (body) => {
      request.rawBody = body
      request.body = {}
      if (body.length === 0) return done()
      if (!isJson(raw.headers)) return refuse(problem('unsupported_media_type'))
      const parseJson = config.signed ? parseSigned : parseStrictly
      parseJson(request, body.toString('utf8'), (fault, value) => {
        request.body = value
        if (fault) refuse(problem('invalid_json'))
        else done()
      })
    })
  }
  server.addHook('onRoute', (route) => {
    const methods = [route.method].flat()
    if (methods.some((method) => methodsWithBody.includes(method))) route.preParsing = parseBody
  })
}

const isEmpty = (headers: IncomingHttpHeaders): boolean =>
  (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined

function isJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return false
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}

const nothing = Buffer.alloc(0)

type Refuse = (error: Error) => void
type Use = (body: Buffer) => void

/** Reads a body of at most `limit` bytes. */
function readBody(raw: IncomingMessage, limit: number, refuse: Refuse, use: Use): void {
  if (Number(raw.headers['content-length']) > limit) {
    refuse(problem('payload_too_large'))
    return
  }
  // Before the next tick, Node parses everything that arrived with the headers.
  process.nextTick(() => {
    if (!raw.complete) collectBody(raw, limit, refuse, use)
    else if (raw.readableLength > limit) refuse(problem('payload_too_large'))
    else use((raw.read() as Buffer | null) ?? nothing)
  })
}

function collectBody(raw: IncomingMessage, limit: number, refuse: Refuse, use: Use): void {
  const chunks: Buffer[] = []
  let length = 0
  const end = (error?: Error) => {
    raw.off('data', add).off('end', end).off('error', end)
    if (error) refuse(error)
    else use(Buffer.concat(chunks, length))
  }
  const add = (chunk: Buffer) => {
    length += chunk.length
    if (length > limit) end(problem('payload_too_large'))
    else chunks.push(chunk)
  }
  raw.on('data', add).on('end', end).on('error', end)
}

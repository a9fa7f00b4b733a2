import type { FastifyInstance } from 'fastify'
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

/** Accepts only JSON; an empty body counts as `{}` whatever its content type. */
export function installBodies(server: FastifyInstance): void {
  server.decorateRequest('rawBody', undefined)
  const parseStrictly = server.getDefaultJsonParser('error', 'error')
  const parseSigned = server.getDefaultJsonParser('remove', 'remove')
  server.removeAllContentTypeParsers()
  server.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const isEmpty = (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined
    if (isEmpty && headers['content-type'] !== undefined) delete headers['content-type']
    done()
  })
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    request.rawBody = body
    if (body.length === 0) return done(null, {})
    const encoding = request.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') return done(problem('unsupported_media_type'))
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
    if (type !== 'application/json') return done(problem('unsupported_media_type'))
    const parseJson = request.routeOptions.config.signed ? parseSigned : parseStrictly
    parseJson(request, body.toString('utf8'), (error, value) => {
      done(error ? problem('invalid_json') : null, value)
    })
  })
}

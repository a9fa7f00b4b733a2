import type { FastifyInstance } from 'fastify'
import { problem } from '../core/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body as they came, for digests and signatures. */
    rawBody: Buffer | undefined
  }
}

/** JSON alone is taken; an empty body counts as `{}` whatever its content type. */
export function installBodies(server: FastifyInstance): void {
  server.decorateRequest('rawBody', undefined)
  const parseJson = server.getDefaultJsonParser('error', 'error')
  server.removeAllContentTypeParsers()
  server.addHook('onRequest', async ({ raw: { headers } }) => {
    const isEmpty = (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined
    if (isEmpty) delete headers['content-type']
  })
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    request.rawBody = body
    if (body.length === 0) return done(null, {})
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
    if (type !== 'application/json') return done(problem('unsupported_media_type'))
    parseJson(request, body.toString('utf8'), (error, value) => {
      done(error ? problem('invalid_json') : null, value)
    })
  })
}

import type { FastifyInstance } from 'fastify'

const exposed = 'content-digest, retry-after, signature, signature-input'
const preflight = {
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers':
    'authorization, content-digest, content-type, keyward-app, keyward-keys, keyward-nonce',
  'access-control-max-age': '86400',
}

/**
 * Lets programs that run in a web page call their endpoints from any origin. Credentials are never allowed: the
 * session travels in a header that only the page's own script can set.
 */
export function installCors(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (request.headers.origin !== undefined) {
      reply.header('access-control-allow-origin', '*')
      reply.header('access-control-expose-headers', exposed)
    }
    done()
  })
  server.options('/api/client/*', (_request, reply) => reply.headers(preflight).code(204).send())
}

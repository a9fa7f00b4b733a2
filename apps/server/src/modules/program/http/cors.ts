import type { FastifyInstance } from 'fastify'

const preflight = {
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers':
    'authorization, content-digest, content-type, keyward-app, keyward-keys, keyward-nonce',
  'access-control-max-age': '86400',
}

/** Answers the preflights of programs that run in a web page; the checks of every request send the other headers. */
export function installCors(server: FastifyInstance): void {
  server.options('/api/client/*', (_request, reply) => reply.headers(preflight).code(204).send())
}

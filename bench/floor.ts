import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import fastify from 'fastify'
import {
  contentDigest,
  importPrivateKey,
  newSigningKey,
  signatureBase,
} from '../apps/server/src/core/signing/signing.ts'
import { SigningThread } from '../apps/server/src/core/signing/signing-thread.ts'
import type { Answer } from './processes.ts'

/**
 * The least that this architecture has to do for a check: Fastify, one prepared read of one row, one digest and one
 * signature on the signing thread, and the real server's headers. No checks, no verdict, no JSON.
 */
const database = new DatabaseSync(':memory:')
database.exec('create table tokens (hash text primary key, id integer) without rowid')
const insert = database.prepare('insert into tokens values (?, ?)')
for (let id = 0; id < 10_000; id += 1) insert.run(contentDigest(String(id)), id)
const read = database.prepare('select id from tokens where hash = ?')
const wanted = contentDigest('1')
const { kid, privateKey } = newSigningKey()
const key = importPrivateKey(privateKey)
const thread = new SigningThread()
const made = new Set(['content-length', 'content-digest', 'signature-input', 'signature'])

process.once('message', async (answers: Record<string, Answer>) => {
  const server = fastify()
  for (const [path, { status, headers, body }] of Object.entries(answers)) {
    const kept = headers.filter(([name]) => !made.has(name.toLowerCase()))
    server.route({
      method: ['GET', 'POST'],
      url: path,
      handler: async (request, reply) => {
        read.get(wanted)
        const digest = contentDigest(body)
        const { base, input } = signatureBase(
          [
            ['"@status"', String(status)],
            ['"content-digest"', digest],
            ['"@method";req', request.method],
            ['"@path";req', path],
            ['"keyward-nonce";req', String(request.headers['keyward-nonce'])],
          ],
          { created: Math.floor(Date.now() / 1000), keyid: kid },
        )
        const signature = await thread.sign(base, key)
        for (const [name, value] of kept) reply.header(name, value)
        reply.header('content-digest', digest)
        reply.header('signature-input', `keyward=${input}`)
        reply.header('signature', `keyward=:${signature}:`)
        return reply.code(status).send(body)
      },
    })
  }
  await server.listen({ port: 0, host: '127.0.0.1' })
  process.send?.((server.server.address() as AddressInfo).port)
})

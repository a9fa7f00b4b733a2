import type { AddressInfo } from 'node:net'
import { connect, type Socket } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { collectGarbage } from '../core/collect-garbage.ts'
import { installConnections } from './connections.ts'

let server: FastifyInstance
let sockets: Socket[]
/** The responses that are still in memory. */
let responses: WeakRef<object>[]

beforeEach(async () => {
  sockets = []
  responses = []
  server = fastify()
  installConnections(server, {
    requestMs: 60_000,
    headersMs: 60_000,
    keepAliveMs: 60_000,
    checkEveryMs: 60_000,
  })
  server.get('/', async (_request, reply) => {
    responses.push(new WeakRef(reply.raw))
    return 'answered'
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await server.close()
})

async function open() {
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  return {
    socket,
    send: (count: number) => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count)),
    answered: () => received.split('answered').length - 1,
  }
}

test('a connection takes sixteen requests at once, again and again', async () => {
  const { send, answered } = await open()
  for (let round = 1; round <= 5; round += 1) {
    send(16)
    await expect.poll(answered).toBe(16 * round)
  }
})

test('an idle connection keeps no response in memory', async () => {
  const { send, answered } = await open()
  send(3)
  await expect.poll(answered).toBe(3)
  const kept = () => {
    collectGarbage()
    return responses.filter((response) => response.deref()).length
  }
  await expect.poll(kept).toBe(0)
})

test('a request of a connection that was reset meanwhile reaches no handler', async () => {
  const { send, answered, socket } = await open()
  const addresses: unknown[] = []
  server.server.prependOnceListener('request', (request) => {
    socket.resetAndDestroy()
    addresses.push(request.socket.remoteAddress)
  })
  send(1)
  await expect.poll(() => addresses).toEqual([undefined])
  const other = await open()
  other.send(1)
  await expect.poll(other.answered).toBe(1)
  expect([answered(), responses.length]).toEqual([0, 1])
})

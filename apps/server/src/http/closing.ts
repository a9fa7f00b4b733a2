import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/**
 * Ends every connection that carries no request as soon as the server closes, and the others right after their answer.
 * Node alone leaves connections open that are silent, have sent half a request, or were kept alive by the last answer.
 */
export function closeConnectionsWithServer(server: FastifyInstance): void {
  const sockets = new Set<Socket>()
  const answering = new Map<ServerResponse, Socket>()
  let closing = false

  const endIdle = () => {
    const inUse = new Set(answering.values())
    for (const socket of sockets) if (!inUse.has(socket)) socket.destroySoon()
  }

  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.set(response, socket)
    response.once('close', () => {
      answering.delete(response)
      if (closing) endIdle()
    })
  })
  server.addHook('preClose', async () => {
    // Requests that have reached this machine are still read, and answered like those before them.
    await nextTurn()
    await nextTurn()
    closing = true
    const last = new Map([...answering].map(([response, socket]) => [socket, response]))
    for (const response of last.values()) {
      if (!response.headersSent) response.setHeader('connection', 'close')
    }
    endIdle()
  })
}

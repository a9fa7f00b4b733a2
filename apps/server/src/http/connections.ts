import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

export interface Timeouts {
  /** For a whole request to arrive. */
  requestMs: number
  /** For its headers, also the first ones of a connection. */
  headersMs: number
  /** For the next request of a connection. */
  keepAliveMs: number
  checkEveryMs: number
}

/**
 * Ends connections that Node alone leaves open: at any time those that keep themselves alive by empty lines, and when
 * the server closes those that are silent or have sent half a request at once, and the others right after their answer.
 */
export function installConnections(server: FastifyInstance, timeouts: Timeouts): void {
  const sockets = new Set<Socket>()
  const idleSince = new Map<Socket, number>()
  const answering = new Map<ServerResponse, Socket>()
  let closing = false

  const endIdle = () => {
    const inUse = new Set(answering.values())
    for (const socket of sockets) if (!inUse.has(socket)) socket.destroySoon()
  }

  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      idleSince.delete(socket)
    })
  })
  server.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.set(response, socket)
    idleSince.delete(socket)
    response.once('close', () => {
      answering.delete(response)
      if (!socket.destroyed) idleSince.set(socket, performance.now())
      if (closing) endIdle()
    })
  })

  const checking = setInterval(() => {
    const latest = performance.now() - timeouts.keepAliveMs - timeouts.headersMs
    const inUse = new Set(answering.values())
    for (const [socket, since] of idleSince) if (since < latest && !inUse.has(socket)) socket.destroy()
  }, timeouts.checkEveryMs)
  checking.unref()

  server.addHook('preClose', async () => {
    clearInterval(checking)
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

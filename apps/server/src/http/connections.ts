import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
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

/** Requests that one connection may have under way; browsers and SDKs wait for each answer. */
const mostAtOnce = 16

/**
 * Ends connections that Node alone leaves open: those that send requests without waiting for answers, which all lie in
 * memory then, and those that keep themselves alive by empty lines. When the server closes, connections without a
 * request end at once, also silent ones and those that have sent half a request, and the others right after their answer.
 */
export function installConnections(server: FastifyInstance, timeouts: Timeouts): void {
  const connections = new Map<Socket, { answering: Set<ServerResponse>; idleSince: number | undefined }>()
  let closing = false

  server.server.on('connection', (socket: Socket) => {
    connections.set(socket, { answering: new Set(), idleSince: undefined })
    socket.once('close', () => connections.delete(socket))
  })

  const [handle] = server.server.listeners('request') as RequestListener[]
  if (!handle) throw new Error('the server handles no requests')
  server.server.removeListener('request', handle)
  server.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const connection = connections.get(socket)
    // Node goes on parsing what it has read of a destroyed connection.
    if (!connection || socket.destroyed) return
    const { answering } = connection
    if (answering.size === mostAtOnce) {
      socket.destroy()
      return
    }
    answering.add(response)
    connection.idleSince = undefined
    response.once('close', () => {
      answering.delete(response)
      if (answering.size > 0) return
      connection.idleSince = performance.now()
      if (closing) socket.destroySoon()
    })
    handle.call(server.server, request, response)
  })

  const checking = setInterval(() => {
    const latest = performance.now() - timeouts.keepAliveMs - timeouts.headersMs
    for (const [socket, { idleSince }] of connections) {
      if (idleSince !== undefined && idleSince < latest) socket.destroy()
    }
  }, timeouts.checkEveryMs)
  checking.unref()

  server.addHook('preClose', async () => {
    clearInterval(checking)
    // Requests that have reached this machine are still read, and answered like those before them.
    await nextTurn()
    await nextTurn()
    closing = true
    for (const [socket, { answering }] of connections) {
      const last = [...answering].at(-1)
      if (!last) socket.destroySoon()
      else if (!last.headersSent) last.setHeader('connection', 'close')
    }
  })
}

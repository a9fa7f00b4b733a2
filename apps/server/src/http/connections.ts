import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type Socket, Server as TcpServer } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
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
/** A connection that was opened or used so recently may have a request on its way when the server closes, … */
const recentMs = 1000
/** … and has so long to send it. */
const graceMs = 250

/**
 * Ends connections that Node alone leaves open: those that send requests without waiting for answers, which all lie in
 * memory then, and those that keep themselves alive by empty lines. When the server closes, connections without a
 * request end, also silent ones and those that have sent half a request, and the others right after their answer.
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

  const endIdle = (isLongIdle: (idleSince: number | undefined) => boolean) => {
    for (const [socket, { answering, idleSince }] of connections) {
      if (answering.size === 0 && isLongIdle(idleSince)) socket.destroySoon()
    }
  }

  server.addHook('preClose', async () => {
    clearInterval(checking)
    // Not by the method of the HTTP server, which closes connections whose next request has arrived but is not read.
    if (server.server.listening) TcpServer.prototype.close.call(server.server)
    await nextTurn()
    await nextTurn()
    closing = true
    for (const { answering } of connections.values()) {
      const last = [...answering].at(-1)
      if (last && !last.headersSent) last.setHeader('connection', 'close')
    }
    const recent = performance.now() - recentMs
    endIdle((idleSince) => idleSince !== undefined && idleSince < recent)
    const isWaiting = () => [...connections.values()].some(({ answering }) => answering.size === 0)
    const latest = performance.now() + graceMs
    while (isWaiting() && performance.now() < latest) await wait(10)
    endIdle(() => true)
  })
}

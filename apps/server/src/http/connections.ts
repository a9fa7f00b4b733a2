import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type Socket, Server as TcpServer } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

export interface Timeouts {
  /** Until the whole request has arrived. */
  requestMs: number
  /** Until its headers have arrived, including the first ones of a connection. */
  headersMs: number
  /** Until the next request of a connection arrives. */
  keepAliveMs: number
  checkEveryMs: number
}

/** Concurrent requests on one connection; browsers and SDKs wait for each response. */
const mostAtOnce = 16
/** On closing, a connection used this recently may have a request in flight, … */
const recentMs = 1000
/** … and gets this long to deliver it. */
const graceMs = 250

/**
 * Ends connections that Node would keep: those that pipeline requests without reading responses (all held in memory),
 * and those that only send empty lines. On closing, ends idle and half-sent connections, and the others right after
 * their response.
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
    // Node keeps parsing buffered requests of a destroyed connection.
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
    // Not HttpServer.close, which drops connections whose next request has arrived but is not parsed yet.
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

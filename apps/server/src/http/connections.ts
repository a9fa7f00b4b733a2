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

interface Connection {
  /** How many responses are not finished. */
  answering: number
  /** The response to the latest request, unless all are finished. */
  latest: ServerResponse | undefined
  idleSince: number | undefined
}

/** Concurrent requests on one connection; browsers and SDKs wait for each response. */
const mostAtOnce = 16
/** On closing, a connection used this recently may have a request in flight. */
const recentMs = 1000
/** How long such a connection has to deliver its request. */
const graceMs = 250

/**
 * Ends connections that Node would keep: those that pipeline requests without reading responses (all held in memory),
 * and those that only send empty lines. On closing, ends idle and half-sent connections, and the others right after
 * their response.
 */
export function installConnections(server: FastifyInstance, timeouts: Timeouts): void {
  const connections = new Map<Socket, Connection>()
  let closing = false

  server.server.on('connection', (socket: Socket) => {
    connections.set(socket, { answering: 0, latest: undefined, idleSince: undefined })
    socket.once('close', () => connections.delete(socket))
  })

  // One listener for all responses: a closure and a wrapper for each take a hundredth of a check.
  function onClosed(this: ServerResponse): void {
    const { socket } = this.req
    const connection = connections.get(socket)
    if (!connection) return
    connection.answering -= 1
    if (connection.answering > 0) return
    connection.latest = undefined
    connection.idleSince = performance.now()
    if (closing) socket.destroySoon()
  }

  const [handle] = server.server.listeners('request') as RequestListener[]
  if (!handle) throw new Error('the server handles no requests')
  server.server.removeListener('request', handle)
  server.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const connection = connections.get(socket)
    // Node keeps parsing buffered requests of a destroyed connection.
    if (!connection || socket.destroyed) return
    // The client has reset the connection, and Node has not noticed yet. Without an address no limit can count it.
    if (socket.remoteAddress === undefined) {
      socket.destroy()
      return
    }
    if (connection.answering === mostAtOnce) {
      socket.destroy()
      return
    }
    connection.answering += 1
    connection.latest = response
    connection.idleSince = undefined
    response.on('close', onClosed)
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
      if (answering === 0 && isLongIdle(idleSince)) socket.destroySoon()
    }
  }

  server.addHook('preClose', async () => {
    clearInterval(checking)
    // HttpServer.close would drop connections whose next request has arrived but is not parsed yet.
    if (server.server.listening) TcpServer.prototype.close.call(server.server)
    await nextTurn()
    await nextTurn()
    closing = true
    for (const { latest } of connections.values()) {
      if (latest?.headersSent === false) latest.setHeader('connection', 'close')
    }
    const recent = performance.now() - recentMs
    endIdle((idleSince) => idleSince !== undefined && idleSince < recent)
    const isWaiting = () => [...connections.values()].some(({ answering }) => answering === 0)
    const latest = performance.now() + graceMs
    while (isWaiting() && performance.now() < latest) await wait(10)
    endIdle(() => true)
  })
}

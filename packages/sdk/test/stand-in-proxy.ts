import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type LookupFunction,
  type Socket,
} from 'node:net'
import { createServer as createTlsServer } from 'node:tls'

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port

/** Every name leads to this machine. */
const lookup: LookupFunction = (_name, { all }, found) =>
  all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4)

/** A loopback HTTP proxy: tunnels, forwards, and asks for credentials if `credentials` are set. */
export async function startProxy({ credentials }: { credentials?: string } = {}) {
  /** The request line, the credentials and the program of every request. */
  const seen: { line: string; credentials: string | undefined; userAgent: string | undefined }[] = []
  const sockets = new Set<Socket>()
  const mayPass = ({ method, url, headers }: IncomingMessage) => {
    const basic = headers['proxy-authorization']?.replace(/^Basic /, '')
    const used = basic === undefined ? undefined : Buffer.from(basic, 'base64').toString('utf8')
    seen.push({ line: `${method} ${url}`, credentials: used, userAgent: headers['user-agent'] })
    return credentials === undefined || used === credentials
  }
  const server = createServer((incoming, response) => {
    if (!mayPass(incoming)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end()
      return
    }
    const { 'proxy-authorization': _, ...headers } = incoming.headers
    const onward = request(
      incoming.url!,
      { method: incoming.method!, headers, agent: false, lookup },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      },
    )
    onward.on('error', () => response.writeHead(502).end())
    incoming.pipe(onward)
  })
  server.on('connect', (incoming, client: Socket) => {
    client.on('error', () => {})
    if (!mayPass(incoming)) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n')
      return
    }
    const { hostname, port } = new URL(`http://${incoming.url}`)
    const onward = connect({ port: Number(port), host: hostname, lookup }, () => {
      client.write('HTTP/1.1 200 Connection established\r\nProxy-Agent: test\r\n\r\n')
      onward.pipe(client).pipe(onward)
    })
    onward.on('error', () => client.destroy())
  })
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    seen,
    address: `127.0.0.1:${portOf(server)}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A server that only ever does one thing with a connection. */
export async function startTcp(serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${portOf(server)}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Encrypts the connections to a server on this machine. */
export async function startTlsFront(plainUrl: string, certificate: { key: string; cert: string }) {
  const sockets = new Set<Socket>()
  const { port } = new URL(plainUrl)
  const server = createTlsServer(certificate, (socket) => {
    sockets.add(socket)
    const onward = connect(Number(port), '127.0.0.1')
    for (const one of [socket, onward]) one.on('error', () => {})
    socket.pipe(onward).pipe(socket)
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: portOf(server),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

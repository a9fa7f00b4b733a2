import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'

const path = '/mcp'

const bodyBytesMax = 65_536
const connectionsMax = 64
/** Requests that run at once; there are no sessions, so nothing else is kept. */
const requestsMax = 64
const subscriptionsMax = 4

/** Serves agents of this machine. Other machines cannot connect, and web pages are refused. */
export async function serveHttp(
  makeServer: () => McpServer,
  { port, token }: { port: number; token: string },
): Promise<{ url: string; server: Server }> {
  const options = { maxRequestBodySize: bodyBytesMax }
  const handle = toNodeHandler(
    createMcpHandler(makeServer, { ...options, maxSubscriptions: subscriptionsMax }),
    options,
  )
  let running = 0
  const server = createServer((request, response) => {
    const refused = refusalOf(request, token, running)
    if (refused) return refuse(request, response, refused)
    running += 1
    response.once('close', () => {
      running -= 1
    })
    void handle(request, response)
  })
  server.maxConnections = connectionsMax
  server.headersTimeout = 10_000
  server.requestTimeout = 30_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, server }
}

interface Refused {
  status: 401 | 403 | 404 | 503
  message: string
}

function refusalOf(request: IncomingMessage, token: string, running: number): Refused | undefined {
  const { headers, socket, url = '' } = request
  // A page on another site reaches this port under a name of its own (DNS rebinding) or with its Origin.
  const hosts = [`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`]
  if (!hosts.includes(headers.host ?? '')) return { status: 403, message: 'This name is not served here' }
  const origins = hosts.map((host) => `http://${host}`)
  if (headers.origin !== undefined && !origins.includes(headers.origin))
    return { status: 403, message: 'Web pages may not call this server' }
  if (!isBearer(headers.authorization, token))
    return { status: 401, message: 'The header Authorization must be Bearer and the token of this server' }
  if (url.split('?', 1)[0] !== path) return { status: 404, message: `There is only ${path}` }
  if (running >= requestsMax) return { status: 503, message: 'Too many requests run at once' }
  return undefined
}

/** Compares hashes in constant time, which leaks neither the token nor its length. */
function isBearer(authorization = '', token: string): boolean {
  const [scheme = '', sent = ''] = authorization.split(' ', 2)
  return scheme.toLowerCase() === 'bearer' && timingSafeEqual(hash(sent), hash(token))
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()

function refuse(request: IncomingMessage, response: ServerResponse, { status, message }: Refused): void {
  request.resume()
  response.writeHead(status, {
    'content-type': 'application/json',
    connection: 'close',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(status === 503 ? { 'retry-after': '1' } : {}),
  })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }))
}

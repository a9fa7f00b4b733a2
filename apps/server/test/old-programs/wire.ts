import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** One request of a program as bytes, so that a test also sends what no HTTP library of today would. */
export interface WireRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body: string
}

export interface WireAnswer {
  status: number
  /** Names as the server wrote them: some programs compare them with their case. */
  headers: [name: string, value: string][]
  body: Buffer
}

export type Wire = (request: WireRequest) => Promise<WireAnswer>
export type Fields = Record<string, string | undefined>
export type Sending = 'form' | 'multipart' | 'query' | 'unencoded'

/** Sends to a server of this process, as a caller of this address. */
export const injected =
  (server: FastifyInstance, from = '127.0.0.1'): Wire =>
  async ({ method, path, headers, body }) => {
    const response = await server.inject({
      ...{ method, url: path, headers, remoteAddress: from },
      ...(body === '' ? {} : { payload: body }),
    })
    const { res } = response.raw as unknown as { res: { getRawHeaderNames(): string[] } }
    const names = res.getRawHeaderNames()
    return {
      status: response.statusCode,
      headers: names.map((name) => [name, String(response.headers[name.toLowerCase()])]),
      body: response.rawPayload,
    }
  }

/** Writes to a socket and reads until its end. */
export const overSocket =
  (origin: string): Wire =>
  ({ method, path, headers, body }) =>
    new Promise((done, fail) => {
      const { hostname, port } = new URL(origin)
      const lines = {
        Host: `${hostname}:${port}`,
        'Content-Length': String(Buffer.byteLength(body)),
        ...headers,
      }
      const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
      const chunks: Buffer[] = []
      const socket = connect(Number(port), hostname, () => {
        socket.write(`${method} ${path} HTTP/1.1\r\n${head.join('')}Connection: close\r\n\r\n${body}`)
      })
      socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', fail)
      socket.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const end = bytes.indexOf('\r\n\r\n')
        const [status = '', ...answered] = bytes.subarray(0, end).toString('latin1').split('\r\n')
        done({
          status: Number(status.split(' ')[1]),
          headers: answered.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
          body: bytes.subarray(end + 4),
        })
      })
    })

const present = (fields: Fields) =>
  Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)

function multipart(fields: [string, string][]): { type: string; body: string } {
  const boundary = `------------------------${randomBytes(8).toString('hex')}`
  const parts = fields.map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return { type: `multipart/form-data; boundary=${boundary}`, body: `${parts.join('')}--${boundary}--\r\n` }
}

const form = 'application/x-www-form-urlencoded'

/** How a library sends fields: encoded, as parts, in the query, or joined without any encoding. */
export function toRequest(path: string, fields: Fields, sending: Sending, host?: string): WireRequest {
  const pairs = present(fields)
  const headers: Record<string, string> = host ? { Host: host } : {}
  const as = (type: string, body: string): WireRequest => ({
    ...{ method: 'POST', path, body },
    headers: { ...headers, 'Content-Type': type },
  })
  if (sending === 'query')
    return { method: 'GET', path: `${path}?${new URLSearchParams(pairs)}`, headers, body: '' }
  if (sending === 'multipart') {
    const { type, body } = multipart(pairs)
    return as(type, body)
  }
  if (sending === 'form') return as(form, String(new URLSearchParams(pairs)))
  return as(form, pairs.map(([name, value]) => `${name}=${value}&`).join(''))
}

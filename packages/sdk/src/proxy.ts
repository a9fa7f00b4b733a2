import { request } from 'node:http'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { toCertificateError } from './certificates.ts'
import { KeywardNetworkError } from './errors.ts'
import type { HttpProxy } from './platform.ts'
import type { Fetch, FetchResponse } from './types.ts'

/** A proxy's answer to CONNECT is a few lines. */
const maxHeadBytes = 16 * 1024

type Send = Parameters<Fetch>[1]

/**
 * Requests through an HTTP proxy: `https` addresses through a tunnel, whose certificate is always verified, `http` ones
 * with the whole address in the request line. The credentials go to the proxy alone.
 */
export function proxyFetch(proxy: HttpProxy): Fetch {
  return async (url, init) => {
    const target = new URL(url)
    if (target.protocol === 'http:') return forwarded(proxy, target, init)
    const socket = await openTunnel(proxy, target, init)
    return exchanged(init, target, { path: target.pathname + target.search, createConnection: () => socket })
  }
}

async function forwarded(proxy: HttpProxy, target: URL, init: Send): Promise<FetchResponse> {
  const { host, port, authorization } = proxy
  const headers = { ...init.headers, ...(authorization && { 'proxy-authorization': authorization }) }
  const response = await exchanged({ ...init, headers }, target, { host, port, path: target.href })
  if (response.status === 407) throw refused(proxy, 407)
  return response
}

/** Opens a connection to the server through the proxy; rejects with `unreachable`, because nothing was sent to it. */
async function openTunnel(proxy: HttpProxy, target: URL, { headers, signal }: Send): Promise<Socket> {
  const tcp = connectTcp({ host: proxy.host, port: proxy.port })
  const stop = () => tcp.destroy()
  signal.addEventListener('abort', stop)
  try {
    const head = await readHead(tcp, () => tcp.write(toConnect(proxy, target, headers['user-agent'])))
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(head)?.[1])
    if (!(status >= 200 && status < 300)) throw refused(proxy, status)
    return await secured(tcp, target.hostname.replace(/^\[|\]$/g, ''))
  } catch (error) {
    tcp.destroy()
    if (error instanceof KeywardNetworkError) throw error
    const { code } = error as { code?: unknown }
    const rejected = toCertificateError([String(code)], target.origin, error)
    if (rejected) throw rejected
    const reason = typeof code === 'string' ? ` (${code})` : ''
    const message = `Cannot reach ${target.origin} through the proxy at ${name(proxy)}${reason}`
    throw new KeywardNetworkError('unreachable', message, { outcomeUnknown: false, cause: error })
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function toConnect({ authorization }: HttpProxy, target: URL, userAgent: string | undefined): string {
  const authority = `${target.hostname}:${target.port || 443}`
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`]
  if (userAgent !== undefined) lines.push(`User-Agent: ${userAgent}`)
  if (authorization !== undefined) lines.push(`Proxy-Authorization: ${authorization}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** Reads the head of the proxy's answer. */
function readHead(tcp: Socket, write: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0)
    const settle = (error?: Error) => {
      tcp.off('data', take).off('error', settle).off('end', close).off('close', close)
      // An error between two readers must not end the program.
      tcp.on('error', () => {})
      if (error) reject(error)
      else resolve(head.toString('latin1'))
    }
    const close = () => settle(new Error('The proxy closed the connection'))
    const take = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0 && head.length < maxHeadBytes) return
      tcp.pause()
      // In a tunnel the program speaks first, so more bytes are a page and not the server's.
      settle(end + 4 === head.length ? undefined : new Error('The proxy did not open a tunnel'))
    }
    tcp.on('data', take).on('error', settle).on('end', close).on('close', close)
    tcp.once('connect', write)
  })
}

/** Sets `rejectUnauthorized`, so that no environment variable turns the verification off. */
function secured(tcp: Socket, host: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const servername = isIP(host) === 0 ? host : ''
    const tls = connectTls({ socket: tcp, host, servername, rejectUnauthorized: true })
    tls.once('secureConnect', () => resolve(tls))
    tls.on('error', reject)
    tls.once('close', () => reject(new Error('The proxy closed the connection')))
  })
}

/** Sends a request, and resolves as soon as the head of the answer is there. */
function exchanged(
  { method, headers, body, signal }: Send,
  target: URL,
  route: { path: string; host?: string; port?: number; createConnection?: () => Socket },
): Promise<FetchResponse> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` }
    const sent = request({
      method,
      signal,
      headers: { ...headers, ...length, host: target.host },
      // A connection of its own, outside of the agents that the program may have set up.
      ...(route.createConnection ? {} : { agent: false }),
      ...route,
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const chunks = response[Symbol.asyncIterator]()
      resolve({
        status: response.statusCode ?? 0,
        headers: { get: (name) => joined(response.headers[name.toLowerCase()]) },
        body: {
          getReader: () => ({
            read: async () => {
              const { done, value } = await chunks.next()
              return { done: done === true, value }
            },
            cancel: async () => void response.destroy(),
          }),
        },
      })
    })
    sent.end(body)
  })
}

const joined = (value: string | string[] | undefined) =>
  Array.isArray(value) ? value.join(', ') : (value ?? null)

const name = ({ host, port }: HttpProxy) => `${host}:${port}`

function refused(proxy: HttpProxy, status: number): KeywardNetworkError {
  const message = Number.isNaN(status)
    ? `What answers at ${name(proxy)} is no HTTP proxy`
    : `The proxy at ${name(proxy)} answered ${status}`
  const facts = { outcomeUnknown: false, ...(Number.isNaN(status) ? {} : { status }) }
  return new KeywardNetworkError('unreachable', message, facts)
}

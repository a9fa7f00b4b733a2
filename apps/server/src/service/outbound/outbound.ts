import { Resolver } from 'node:dns/promises'
import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { AddressRules, isLocalName, type OutboundSettings, type Target } from './address-rules.ts'
import { outboundFailures, refused, toOutboundError } from './failures.ts'

/** How long the parts of an exchange may take, in milliseconds. */
const waits = { connectMs: 5_000, wholeMs: 15_000, restOfBodyMs: 2_000, dnsMs: 2_000 }
/** A longer body is cut off; its sender has answered by then. */
const readBytesMax = 65_536
const headerBytesMax = 16_384

export interface OutboundRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  /** How much of the answer's body is kept. */
  keptBytes: number
}

export interface OutboundAnswer {
  status: number
  headers: Readonly<http.IncomingHttpHeaders>
  /** The beginning of the body as it was sent: nothing is decompressed. */
  body: Buffer
}

interface OutboundOptions {
  names?: (timeoutMs: number) => HostNames
  /** An authority that is trusted instead of the known ones. */
  ca?: string
  waits?: Partial<typeof waits>
}

/** Calls addresses that vendors typed. Each request resolves its host once and connects to what was checked, and nowhere else. */
export class Outbound {
  readonly #rules: AddressRules
  readonly #options: OutboundOptions
  readonly #waits: typeof waits

  constructor(config: OutboundSettings, options: OutboundOptions = {}) {
    this.#rules = new AddressRules(config)
    this.#options = options
    this.#waits = { ...waits, ...options.waits }
  }

  /** The sentence that says why an address cannot be called; undefined if it can, as far as that shows without its DNS entries. */
  findFault(url: string): string | undefined {
    const failure = this.#rules.findFault(url)
    return failure && outboundFailures[failure]
  }

  /** Sends a request, follows no redirect and reads a bounded answer. Throws an `OutboundError`. */
  async exchange(request: OutboundRequest): Promise<OutboundAnswer> {
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(refused('slow')), this.#waits.wholeMs)
    try {
      const target = this.#rules.read(request.url)
      const addresses = await this.#resolve(target, deadline.signal)
      deadline.signal.throwIfAborted()
      return await this.#send(request, target, addresses, deadline.signal)
    } catch (error) {
      throw toOutboundError(error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** The addresses that a target may be reached at. Others of the same name are left out, because they are never connected to. */
  async #resolve(target: Target, signal: AbortSignal): Promise<string[]> {
    const names = (this.#options.names ?? systemHostNames)(this.#waits.dnsMs)
    const found = await findAddresses(names, target.host, signal)
    const allowed = found.filter((address) => this.#rules.allows(address, target))
    if (allowed.length === 0) throw refused('host')
    return allowed
  }

  #send(
    { method, headers, body, keptBytes }: OutboundRequest,
    { url, host, port, isEncrypted }: Target,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<OutboundAnswer> {
    return new Promise((resolve, reject) => {
      const payload = Buffer.from(body)
      const request = (isEncrypted ? https : http).request({
        method,
        host,
        port,
        path: `${url.pathname}${url.search}`,
        headers: {
          ...headers,
          host: url.port === '' ? bracketed(host) : `${bracketed(host)}:${port}`,
          'content-length': payload.length,
          'accept-encoding': 'identity',
          connection: 'close',
        },
        // An agent could reuse a connection that an earlier check allowed, or go through a proxy.
        agent: false,
        ...connectTo(addresses),
        maxHeaderSize: headerBytesMax,
        insecureHTTPParser: false,
        rejectUnauthorized: true,
        ...(this.#options.ca === undefined ? {} : { ca: this.#options.ca }),
      })
      const fail = (error: unknown) => {
        reject(error)
        request.destroy()
      }
      const onAbort = () => fail(signal.reason)
      signal.addEventListener('abort', onAbort)
      const connecting = setTimeout(() => fail(refused('connecting')), this.#waits.connectMs)
      request.on('socket', (socket) => {
        socket.once(isEncrypted ? 'secureConnect' : 'connect', () => clearTimeout(connecting))
      })
      request.on('error', fail)
      request.on('close', () => {
        clearTimeout(connecting)
        signal.removeEventListener('abort', onAbort)
        reject(refused('closed'))
      })
      request.on('response', (response) => {
        signal.removeEventListener('abort', onAbort)
        const finish = (kept: Buffer) => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: kept })
          request.destroy()
        }
        readBeginning(response, { keptBytes, waitMs: this.#waits.restOfBodyMs, signal }).then(finish, fail)
      })
      request.end(payload)
    })
  }
}

/** Options of a connection to one of the addresses that were checked, in their order. Node looks up names only, never an IP address. */
function connectTo(addresses: readonly string[]) {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  const lookup: LookupFunction = (_host, options, done) => {
    if (options.all) done(null, found)
    else done(null, found[0]!.address, found[0]!.family)
  }
  return { lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 2_000 }
}

const bracketed = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host)

/**
 * Reads the beginning of a body. The status has answered already, so that a body which is endless, slow or breaks off is
 * cut and fails nothing.
 */
function readBeginning(
  response: http.IncomingMessage,
  { keptBytes, waitMs, signal }: { keptBytes: number; waitMs: number; signal: AbortSignal },
): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let [kept, read] = [0, 0]
    const finish = () => {
      clearTimeout(timer)
      resolve(Buffer.concat(chunks))
    }
    const timer = setTimeout(finish, waitMs)
    signal.addEventListener('abort', finish)
    response.on('data', (chunk: Buffer) => {
      const part = chunk.subarray(0, keptBytes - kept)
      if (part.length > 0) chunks.push(Buffer.from(part))
      kept += part.length
      read += chunk.length
      if (read > readBytesMax) finish()
    })
    response.on('end', finish)
    response.on('error', finish)
    response.on('close', finish)
  })
}

/** Finds the addresses of a host name; for tests another one is used. */
export interface HostNames {
  resolve4: (host: string) => Promise<string[]>
  resolve6: (host: string) => Promise<string[]>
  cancel: () => void
}

/** More addresses of one family are not tried. */
const addressesMax = 4

/**
 * Asks the DNS servers themselves: the system's own look-up occupies one of four threads that the whole process shares,
 * and somebody's slow DNS server could hold all of them. It also searches the server's own domain, which this does not.
 */
export const systemHostNames = (timeoutMs: number): HostNames =>
  new Resolver({ timeout: timeoutMs, tries: 2 })

/** All addresses of a host; none if it has none or its DNS servers do not answer. */
export async function findAddresses(names: HostNames, host: string, signal: AbortSignal): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  if (isLocalName(host)) return ['127.0.0.1', '::1']
  const cancel = () => names.cancel()
  signal.addEventListener('abort', cancel)
  try {
    const found = await Promise.allSettled([names.resolve4(host), names.resolve6(host)])
    return found.flatMap((one) => (one.status === 'fulfilled' ? one.value.slice(0, addressesMax) : []))
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

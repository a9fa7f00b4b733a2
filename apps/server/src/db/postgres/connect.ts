// ADR 100: every connection to PostgreSQL is made here, to the host that accepts writes.

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import pg from 'pg'
import { type DatabaseAddress, readDatabaseAddress } from '../../config-database.ts'
import { OperatorError } from '../../core/operator-error.ts'
import { version } from '../../core/version.ts'
import { DatabaseUnavailableError } from '../failure.ts'

/** A host that does not answer within this time is passed over. */
const findMs = 1500

/** A new connection, for the options of the driver. */
export type ClientOptions = Omit<pg.ClientConfig, 'connectionString' | 'ssl' | 'host' | 'port'>

const known = new Map<string, Hosts>()

/** A client that connects to a host of this DATABASE_URL. */
export const createClient = (url: string, options: ClientOptions = {}): pg.Client =>
  new HostClient(hostsOf(url), options)

/** The class of such clients, for a pool. */
export function clientClassOf(url: string): new (options?: ClientOptions) => pg.Client {
  const hosts = hostsOf(url)
  return class extends HostClient {
    constructor(options: ClientOptions = {}) {
      super(hosts, options)
    }
  }
}

function hostsOf(url: string): Hosts {
  const hosts = known.get(url) ?? new Hosts(url)
  known.set(url, hosts)
  return hosts
}

/** The hosts of a DATABASE_URL, and the one that new connections use. */
class Hosts {
  readonly urls: readonly string[]
  readonly needsWrites: boolean
  readonly ssl: pg.ClientConfig['ssl']
  #current: string | undefined
  #finding: Promise<string> | undefined

  constructor(url: string) {
    const address = readDatabaseAddress(url)
    if (typeof address === 'string') throw new OperatorError(`The address of the database ${address}.`)
    this.urls = address.urls
    this.needsWrites = address.needsWrites
    this.ssl = address.tls && toDriver(address.tls)
  }

  get areMany(): boolean {
    return this.urls.length > 1
  }

  /** The host that was used last, or the first one that answers as it must. */
  choose(): Promise<string> {
    if (this.#current !== undefined) return Promise.resolve(this.#current)
    this.#finding ??= this.#find().finally(() => {
      this.#finding = undefined
    })
    return this.#finding
  }

  /** The next connection looks for a host again. */
  giveUp(url: string): void {
    if (this.#current === url) this.#current = undefined
  }

  async #find(): Promise<string> {
    try {
      this.#current = await Promise.any(this.urls.map((url) => this.#try(url)))
      return this.#current
    } catch (error) {
      const [first] = (error as AggregateError).errors
      throw new DatabaseUnavailableError('No host of DATABASE_URL answers and accepts writes', first)
    }
  }

  async #try(url: string): Promise<string> {
    const client = new pg.Client({
      ...this.optionsOf(url),
      connectionTimeoutMillis: findMs,
      query_timeout: findMs,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      await this.check(client)
      return url
    } finally {
      void client.end().catch(() => {})
    }
  }

  async check(client: pg.Client): Promise<void> {
    if (!this.needsWrites) return
    const { rows } = await client.query('show transaction_read_only')
    if (rows[0]?.transaction_read_only !== 'off')
      throw new DatabaseUnavailableError('The host of DATABASE_URL accepts no writes')
  }

  optionsOf(url: string): pg.ClientConfig {
    return { ...connectionName, connectionString: url, ...(this.ssl !== undefined && { ssl: this.ssl }) }
  }
}

class HostClient extends pg.Client {
  readonly #hosts: Hosts

  constructor(hosts: Hosts, options: ClientOptions) {
    super({ ...options, ...hosts.optionsOf(hosts.urls[0] ?? '') })
    this.#hosts = hosts
    // One that ends while it is connecting has no other listener, and would end the server.
    this.on('error', () => {})
  }

  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const connecting = this.#connect()
    if (!callback) return connecting
    connecting.then(() => (callback as () => void)(), callback)
    return undefined
  }

  async #connect(): Promise<pg.Client> {
    const hosts = this.#hosts
    if (!hosts.areMany && !hosts.needsWrites) return super.connect()
    const url = await hosts.choose()
    try {
      const { host, port } = new pg.Client(hosts.optionsOf(url))
      Object.assign(this, { host, port })
      await super.connect()
      await hosts.check(this)
      return this
    } catch (error) {
      hosts.giveUp(url)
      void this.end().catch(() => {})
      throw error
    }
  }
}

function toDriver({ mode, rootCertificate, certificate, key }: NonNullable<DatabaseAddress['tls']>) {
  if (mode === 'disable') return false
  return {
    rejectUnauthorized: mode !== 'no-verify',
    ...(rootCertificate !== undefined &&
      rootCertificate !== 'system' && { ca: readFileSync(rootCertificate, 'utf8') }),
    ...(certificate !== undefined && { cert: readFileSync(certificate, 'utf8') }),
    ...(key !== undefined && { key: readFileSync(key, 'utf8') }),
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  }
}

// ADR 2: several nodes share one PostgreSQL, whose operator sees which connection is whose.

/** PostgreSQL shows this many bytes. */
const bytesMax = 63

/** The name of connections in `pg_stat_activity`, unless DATABASE_URL or PGAPPNAME gives another one. */
export const connectionName = {
  fallback_application_name: `keyward ${version} ${hostname()}`.replace(/[^ -~]/g, '?').slice(0, bytesMax),
}

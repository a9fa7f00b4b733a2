import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { inject } from 'vitest'
import { buildApp } from '../src/app.ts'
import { type Config, readConfig } from '../src/config.ts'
import { type Clock, day } from '../src/core/clock.ts'
import { createSeal, type Seal } from '../src/core/crypto.ts'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from '../src/db/migrations/index.ts'
import { type OpenDatabase, openDatabase } from '../src/db/open.ts'
import { transactRecorded } from '../src/db/record.ts'
import { databaseFile } from '../src/db/sqlite/data-dir.ts'
import type { Ctx } from '../src/service/ctx.ts'
import { checkDocumented } from './documented.ts'
import { copyMigratedFile, createDatabase, databaseUrl, startOfTests } from './migrated.ts'
import { QuickPasswords } from './quick-passwords.ts'

/** A clock that moves only when advanced. */
export class TestClock implements Clock {
  #now = startOfTests

  now(): number {
    return this.#now
  }

  advance(ms: number): void {
    this.#now += ms
  }

  /** An ISO date-time this many days from now. */
  inDays(days: number): string {
    return new Date(this.#now + days * day).toISOString()
  }
}

/** Transactions outside of a server, whose records are not published. */
export const transactionsOn =
  ({ db }: Pick<OpenDatabase, 'db'>, clock: Clock): Ctx['tx'] =>
  (actor, work, options) =>
    transactRecorded(db, { actor, now: clock.now(), publish: () => {} }, work, options)

/** What services need, for calls that begin before something that the server does. */
export const ctxOf = ({ clock, config, database, seal }: TestServer): Ctx => ({
  ...{ clock, config, database, db: database.db, seal },
  tx: transactionsOn(database, clock),
  passwords: new QuickPasswords(),
  vpn: { has: () => false, isLoaded: false },
})

/** The longest time of a timer: 24 days. */
export const never = 2 ** 31 - 1

/** The real server on a real, migrated, empty database. */
export interface TestServer {
  server: FastifyInstance
  database: OpenDatabase
  clock: TestClock
  config: Config
  seal: Seal
  dataDir: string
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  close(): Promise<void>
}

export interface CallOptions {
  token?: string | undefined
  body?: unknown
  headers?: Record<string, string>
  /** The address of the caller. */
  from?: string
}

export interface Answer {
  status: number
  headers: LightMyRequestResponse['headers']
  raw: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked by what the tests read of them
  json: any
}

/**
 * Starts a server; `environment` holds the operator's variables. Rate limits are off unless set, and hashes are quick
 * unless `options` has other `passwords`.
 */
export async function startServer(
  environment: Record<string, string> = {},
  options: Partial<Parameters<typeof buildApp>[0]> = {},
): Promise<TestServer> {
  const dataDir = environment.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'keyward-test-'))
  const isPostgres = process.env.TEST_DATABASE === 'postgres' && !environment.DATABASE_URL
  const isNewFile = !isPostgres && !environment.DATABASE_URL && !existsSync(join(dataDir, databaseFile))
  if (isNewFile) await copyMigratedFile(dataDir)
  const config = readConfig({
    RATE_LIMITS: 'off',
    DATA_DIR: dataDir,
    SECRET_KEY: 'a secret key that only tests use, 32+ characters',
    ...(isPostgres ? { DATABASE_URL: await makePostgresCopy() } : {}),
    ...environment,
  })
  const database = openDatabase({ url: config.databaseUrl, dataDir })
  // On a busy machine the PostgreSQL of the tests may take seconds to respond; tests of outages use their own.
  if (isPostgres && database.dialect === 'postgres') database.pool.waits.suspectAfterMs = 60_000
  const clock = new TestClock()
  await migrate(database, migrations, { now: clock.now() })
  const seal = createSeal(config.secretKey ?? '')
  const server = await buildApp({
    config,
    database,
    seal,
    clock,
    passwords: new QuickPasswords(),
    consoleDir: join(dataDir, 'no-console'),
    checkAnswers: true,
    // On a slow machine scheduled work would begin in the middle of a test; tests of it start it themselves.
    reconcileAfterMs: never,
    remindersAfterMs: never,
    deliveriesEveryMs: never,
    logLevel: process.env.TEST_LOG ?? 'silent',
    ...options,
  })
  await server.ready()
  return {
    server,
    database,
    clock,
    config,
    seal,
    dataDir,
    call: (method, path, callOptions) => call(server, method, path, callOptions),
    async close() {
      await server.close()
      await database.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Copies the migrated, empty database on PostgreSQL. */
export async function makePostgresCopy(): Promise<string> {
  const url = inject('postgresUrl')
  return databaseUrl(url, await createDatabase(url, { template: inject('postgresTemplate') }))
}

/** Creates an empty database without tables on PostgreSQL. */
export async function makePostgresDatabase(tablespace?: string): Promise<string> {
  const url = inject('postgresUrl')
  return databaseUrl(url, await createDatabase(url, { tablespace }))
}

async function call(
  server: FastifyInstance,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const response = await server.inject({
    method: method as 'GET',
    url: `/api${path}`,
    remoteAddress: options.from ?? '127.0.0.1',
    headers: {
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { payload: JSON.stringify(options.body) }),
  })
  const isJson = String(response.headers['content-type']).includes('application/json')
  const json = isJson ? JSON.parse(response.payload) : undefined
  checkDocumented(method, path, response.statusCode, json)
  return { status: response.statusCode, headers: response.headers, raw: response.rawPayload, json }
}

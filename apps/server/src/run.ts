import { flushCompileCache } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildApp } from './app.ts'
import { ConfigError, readConfig } from './config.ts'
import { systemClock } from './core/clock.ts'
import { collectGarbage } from './core/collect-garbage.ts'
import { openLog } from './core/log-writer.ts'
import { OperatorError } from './core/operator-error.ts'
import { hasSodium } from './core/signing/ed25519.ts'
import { databaseFault } from './db/faults.ts'
import { watchKeys } from './db/key-rotation/servers.ts'
import { prepare } from './db/prepare.ts'
import { greeting } from './greeting.ts'
import { makeFirstOwnerLink } from './modules/account/first-owner.ts'
import { listenFault } from './start-errors.ts'

/** Running requests get this long on shutdown; then their connections are closed. */
const drainMs = 10_000
/** Extra time for closing the database and background work. */
const graceMs = 5_000
const flushMs = 500
const cacheAfterMs = 5_000
/** The log opens standard output by number: the first access to process.stdout would make writes to a pipe block. */
const standardOutput = 1
const consoleDir = fileURLToPath(new URL('../../console/dist', import.meta.url))

async function main(): Promise<void> {
  const config = readConfig(process.env)
  const log = openLog(standardOutput)
  process.on('exit', () => log.flushAtExit())
  const tell = async (line: string) => {
    log.write(`${line}\n`)
    // A migration of an embedded database occupies this thread.
    await log.flush(flushMs)
  }
  const { database, seal } = await prepare(config, tell).catch((error: unknown) => {
    throw databaseFault(error, config) ?? error
  })
  const { logLevel } = config
  const draining = new AbortController()
  const server = await buildApp({
    config,
    database,
    seal,
    consoleDir,
    logLevel,
    log,
    draining: draining.signal,
  })
  let stopping = false
  const stop = async () => {
    // Service managers and npm may send a signal twice.
    if (stopping) return
    stopping = true
    draining.abort()
    if (server.server.listening) await wait(config.shutdownDelayMs)
    setTimeout(() => server.server.closeAllConnections(), drainMs).unref()
    setTimeout(() => process.exit(1), drainMs + graceMs).unref()
    const closed = [
      await failureOf(server.close()),
      await failureOf(endWatch()),
      await failureOf(database.close()),
    ]
    const failures = closed.filter(Boolean)
    for (const err of failures) server.log.error({ err }, 'closing failed')
    await log.flush(flushMs)
    process.exit(failures.length > 0 ? 1 : 0)
  }
  const endWatch = watchKeys({
    ...{ database, seal },
    onStranger: (err) => {
      server.log.fatal({ err }, 'stopping')
      void stop()
    },
    onError: (err) => server.log.warn({ err }, 'cannot read which secret key seals'),
  })
  // SIGHUP: the terminal was closed. Node undoes what `nohup` set, so it would end the process at once.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  if (process.argv.includes('--end-with-parent')) {
    process.on('disconnect', stop)
    if (!process.connected) return stop()
  }
  // For `localhost` Fastify opens a second server on ::1 that the connection limits do not cover.
  const host = config.host === 'localhost' ? '127.0.0.1' : config.host
  collectGarbage()
  await server.listen({ port: config.port, host }).catch((error: unknown) => {
    throw listenFault(error, config) ?? error
  })
  const [address] = server.addresses() as { port: number }[]
  const firstOwner =
    config.registration === 'closed' ? await makeFirstOwnerLink(database, systemClock.now()) : undefined
  log.write(greeting(config, address?.port ?? config.port, process.env, { firstOwner }))
  if (!(await hasSodium()))
    server.log.info(
      'libsodium cannot be loaded here: OpenSSL signs the responses to programs, which is slower',
    )
  // Without this, a kill would discard the compile cache, which Node writes at exit.
  setTimeout(flushCompileCache, cacheAfterMs).unref()
}

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

/** Prints errors that an operator can correct as plain lines, others with their stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigError)
    return error.mistakes.map((mistake) => `Configuration: ${mistake}`).join('\n')
  const { message, stack } = error as Error
  return error instanceof OperatorError ? message : (stack ?? message)
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`)
  process.exit(1)
})

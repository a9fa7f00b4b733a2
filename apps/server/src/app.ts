import type { AddressInfo } from 'node:net'
import { limits } from '@keyward/contract'
import type { FastifyInstance } from 'fastify'
import type { AppOptions } from './app-options.ts'
import { localUrl } from './config.ts'
import { apiKeyPrefix } from './core/api-key.ts'
import { systemClock } from './core/clock.ts'
import { VpnRanges } from './core/networks/vpn-ranges.ts'
import { Passwords } from './core/passwords/passwords.ts'
import { createGates, type Gates } from './core/queues/gate.ts'
import { transactRecorded } from './db/record.ts'
import { installErrors, logStorageFailure } from './http/errors.ts'
import { createFloods, gateOf } from './http/flood-gate.ts'
import { createMount } from './http/mount.ts'
import { installPages } from './http/pages.ts'
import { installRequestChecks } from './http/request-checks.ts'
import { createServer, installRequestLog } from './http/server.ts'
import { authenticatePerson } from './modules/account/account.service.ts'
import { authenticateApiKey } from './modules/api-keys/api-keys.authentication.ts'
import { authenticateCustomer } from './modules/customer-page/customer-page.service.ts'
import { modules } from './modules/index.ts'
import { createMailer } from './modules/mail/mail.service.ts'
import type { Module, Parts } from './modules/module.ts'
import { getRecordBytesPerHour } from './modules/owners/owners.service.ts'
import { authenticateReseller } from './modules/resellers/resellers.service.ts'
import { installMetrics } from './modules/system/metrics.mount.ts'
import { Attempts } from './service/attempts.ts'
import type { Ctx } from './service/ctx.ts'
import { doOnce } from './service/idempotency.ts'
import { Outbound } from './service/outbound/outbound.ts'
import { WriteBudget } from './service/write-budget.ts'

const standbyLines = {
  away: 'commits wait for a synchronous standby of the database: writes are refused until one answers, or synchronous_standby_names is changed',
  back: 'commits of the database are confirmed again',
}

/** Builds the server without listening and without reading the environment. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { config, database } = options
  const server = createServer(options)
  const vpn = new VpnRanges(config.vpnRangesFile, server.log)
  await vpn.start()
  const parts = makeParts(options, server, vpn)
  const gates = createGates(database.engine.requestsMost, options.gateSizes)
  database.room.onStandby = (isAway) =>
    isAway ? server.log.error(standbyLines.away) : server.log.info(standbyLines.back)
  database.slow.listen(config.slowQueryMs, (query) => server.log.warn(query, 'slow query'))
  installRequestChecks(server, config)
  installErrors(server)
  await installMetrics(server, parts, gates)
  await server.register(async (scope) => {
    installRequestLog(scope)
    const mount = createMount(scope, mountOptions(parts, gates))
    for (const module of modules) module.routes?.(mount, parts)
  })
  for (const module of modules) await module.install?.(server, parts)
  await server.register((scope) => installPages(scope, config, options.consoleDir))

  const ends: (() => Promise<unknown>)[] = []
  server.addHook('onReady', async () => {
    await parts.events.start()
    for (const { work } of modules) if (work) ends.push(await work(parts))
  })
  server.addHook('preClose', async () => parts.events.endStreams())
  server.addHook('onClose', async () => {
    vpn.stop()
    await Promise.all(ends.map((end) => end()))
    parts.mailer.close()
    for (const module of modules.toReversed()) await module.flush?.(parts)
    await parts.budget.ended()
    await parts.events.stop()
  })
  return server
}

/** Makes what the modules share, from the lowest module to the highest. */
function makeParts(options: AppOptions, server: FastifyInstance, vpn: VpnRanges): Parts {
  const { config, database, clock = systemClock } = options
  const ctx: Ctx = {
    ...{ config, database, db: database.db, clock, vpn, seal: options.seal },
    passwords: options.passwords ?? new Passwords(),
    tx: (actor, work, more) =>
      transactRecorded(
        database.db,
        {
          actor,
          now: clock.now(),
          waitToGrow: (part) => budget.waitToGrow(actor, part),
          publish: (records, bytes, growth) => {
            budget.add(actor, bytes)
            budget.grow(actor, growth)
            for (const consume of consumers) consume(records)
            if (actor.kind === 'program') for (const consume of ofPrograms) consume(records, actor)
          },
          follow: parts.accountMails.follows,
          wake: parts.wake,
        },
        work,
        more,
      ),
  }
  const onError = (error: unknown) =>
    logStorageFailure(error, server.log) ?? server.log.error({ err: error }, 'background work failed')
  const attempts = new Attempts(ctx)
  const budget = new WriteBudget({
    ...{ ctx, attempts, onError },
    readBytesPerHour: (scope) => getRecordBytesPerHour(ctx, scope),
  })
  const port = () => (server.addresses()[0] as AddressInfo | undefined)?.port ?? config.port
  const parts = {
    ...{ options, modules, ctx, attempts, budget, onError, log: server.log },
    outbound: new Outbound(config),
    mailer: options.mailer ?? createMailer(config, server.log),
    floods: createFloods(config, options.programRequestsPerMinute),
    consoleUrl: () => config.publicUrl ?? localUrl(config, port()),
    wake: (queue) => wakes[queue]?.(),
  } as Parts
  for (const module of modules) Object.assign(parts, module.parts?.(parts))
  const wakes: ReturnType<NonNullable<Module['queues']>> = {}
  for (const module of modules) Object.assign(wakes, module.queues?.(parts))
  const consumers = modules.flatMap((module) => module.consume?.(parts) ?? [])
  const ofPrograms = modules.flatMap((module) => module.consumeOfPrograms?.(parts) ?? [])
  if (options.onRecords) consumers.push(options.onRecords)
  return parts
}

function mountOptions(
  { ctx, attempts, budget, onError, options }: Parts,
  gates: Gates,
): Parameters<typeof createMount>[1] {
  const count = gateOf(ctx.config, limits.apiKeyRequestsPerMinute)
  return {
    ...{ clock: ctx.clock, gates, budget, attempts, checkAnswers: options.checkAnswers ?? false },
    countStranger: gateOf(ctx.config, limits.strangerRequestsPerMinute),
    once: (actor, keyed, work) => doOnce(ctx, actor, keyed, work, onError),
    authenticators: {
      owner: (token, address) =>
        token.startsWith(apiKeyPrefix)
          ? authenticateApiKey(ctx, { token, address, count })
          : authenticatePerson(ctx, token, address),
      reseller: (token, address) => authenticateReseller(ctx, token, address),
      customer: (token, address) => authenticateCustomer(ctx, token, address),
    },
  }
}

import type { AddressInfo } from 'node:net'
import { endpoints, limits } from '@keyward/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Config, localUrl } from './config.ts'
import { system } from './core/actor.ts'
import { apiKeyPrefix } from './core/api-key.ts'
import { type Clock, minute, systemClock } from './core/clock.ts'
import type { Seal } from './core/crypto.ts'
import { createGates, type GateSizes } from './core/gate.ts'
import { Passwords } from './core/passwords.ts'
import { problem } from './core/problem.ts'
import { visitorOf } from './core/visitor.ts'
import { VpnRanges } from './core/vpn-ranges.ts'
import type { Database, QueueName, RecordConsumer } from './db/index.ts'
import { transactRecorded } from './db/record.ts'
import { installBodies } from './http/body.ts'
import { installErrors, logStorageFailure } from './http/errors.ts'
import { createFloodGate } from './http/flood-gate.ts'
import { lazyLogger } from './http/lazy-logger.ts'
import { createMount } from './http/mount.ts'
import { installPages } from './http/pages.ts'
import { installRequestChecks } from './http/request-checks.ts'
import { createServer, type ServerOptions } from './http/server.ts'
import { accountHolders } from './modules/account/account.factors.ts'
import { toResetRequest as toOwnerRequest } from './modules/account/account.reset.ts'
import { accountRoutes } from './modules/account/account.routes.ts'
import { authenticatePerson } from './modules/account/account.service.ts'
import { getUser } from './modules/account/account.view.ts'
import { accountSessionsRoutes } from './modules/account/account-sessions.routes.ts'
import { vendorsRoutes } from './modules/account/vendors.routes.ts'
import { AccountMails } from './modules/account-mails/account-mails.service.ts'
import { ActivityLog } from './modules/activity/activity.log.ts'
import { authenticateApiKey } from './modules/api-keys/api-keys.authentication.ts'
import { apiKeysRoutes } from './modules/api-keys/api-keys.routes.ts'
import { appMailsRoutes } from './modules/app-mails/app-mails.routes.ts'
import { appsRoutes } from './modules/apps/apps.routes.ts'
import { auditRoutes } from './modules/audit/audit.routes.ts'
import { BlockTables } from './modules/blocklist/block-tables.ts'
import { blocklistRoutes } from './modules/blocklist/blocklist.routes.ts'
import { bulkRoutes } from './modules/bulk/bulk.routes.ts'
import { startCompatibility } from './modules/compatibility/compatibility.mount.ts'
import { compatibilityRoutes } from './modules/compatibility/compatibility.routes.ts'
import { sendLink } from './modules/customer-page/customer-mails.ts'
import { customerPageRoutes } from './modules/customer-page/customer-page.routes.ts'
import { authenticateCustomer } from './modules/customer-page/customer-page.service.ts'
import { customerRecordsRoutes } from './modules/customer-records/customer-records.routes.ts'
import { startErasures } from './modules/customer-records/erasure-runner.ts'
import { dashboardRoutes } from './modules/dashboard/dashboard.routes.ts'
import { endUsersRoutes } from './modules/end-users/end-users.routes.ts'
import { eventsRoutes } from './modules/events/events.routes.ts'
import { createEvents } from './modules/events/events.service.ts'
import { explanationsRoutes } from './modules/explanations/explanations.routes.ts'
import { importsRoutes } from './modules/imports/imports.routes.ts'
import { ImportRunner } from './modules/imports/imports.runner.ts'
import { lazyMoveRoutes } from './modules/lazy-move/lazy-move.routes.ts'
import { LazyMoves } from './modules/lazy-move/lazy-moves.ts'
import { licenseTypesRoutes } from './modules/license-types/license-types.routes.ts'
import { licensesRoutes } from './modules/licenses/licenses.routes.ts'
import { MailOutbox } from './modules/mail/mail.outbox.ts'
import { createMailer, type Mailer } from './modules/mail/mail.service.ts'
import { Invitations } from './modules/members/invitations.service.ts'
import { membersRoutes } from './modules/members/members.routes.ts'
import { EmailConfirmations } from './modules/notifications/email-confirmations.ts'
import { notificationsRoutes } from './modules/notifications/notifications.routes.ts'
import { startNotifications } from './modules/notifications/notifications.scan.ts'
import { offlineActivationsRoutes } from './modules/offline-activations/offline-activations.routes.ts'
import { getRecordBytesPerHour } from './modules/owners/owners.service.ts'
import { PasswordResets } from './modules/password-resets/password-resets.service.ts'
import { startReconciler } from './modules/payments/payments.pipeline.ts'
import { type Payments, type ProviderWaits, usualWaits } from './modules/payments/payments.provider.ts'
import { paymentsRoutes } from './modules/payments/payments.routes.ts'
import { createProvider } from './modules/payments/payments.service.ts'
import { plansRoutes } from './modules/plans/plans.routes.ts'
import { platformRoutes } from './modules/platform/platform.routes.ts'
import { portalHolders } from './modules/portal/portal.factors.ts'
import { toResetRequest as toResellerRequest } from './modules/portal/portal.reset.ts'
import { portalRoutes } from './modules/portal/portal.routes.ts'
import { portalSessionsRoutes } from './modules/portal/portal-sessions.routes.ts'
import { type SessionCapOptions, startProgram } from './modules/program/program.start.ts'
import { releasesRoutes } from './modules/releases/releases.routes.ts'
import { resellersRoutes } from './modules/resellers/resellers.routes.ts'
import { authenticateReseller } from './modules/resellers/resellers.service.ts'
import { secondFactorRoutes } from './modules/second-factors/second-factors.routes.ts'
import type { HookGates } from './modules/shops/hooks.service.ts'
import { createShopRunner } from './modules/shops/shop-events.worker.ts'
import { isMailCurrent, noteMailEnd } from './modules/shops/shops.access.ts'
import { shopsRoutes } from './modules/shops/shops.routes.ts'
import { startWaitingMails } from './modules/shops/waiting-mails.ts'
import { signingKeysRoutes } from './modules/signing-keys/signing-keys.routes.ts'
import { startHousekeeping } from './modules/system/housekeeping.ts'
import { offersMetrics } from './modules/system/metrics.rules.ts'
import { type BackupOptions, ScheduledBackups } from './modules/system/scheduled-backups.ts'
import { systemRoutes } from './modules/system/system.routes.ts'
import { variablesRoutes } from './modules/variables/variables.routes.ts'
import { pauseFullWebhooks } from './modules/webhooks/webhooks.pauses.ts'
import { queueRefusals } from './modules/webhooks/webhooks.refusals.ts'
import { webhooksRoutes } from './modules/webhooks/webhooks.routes.ts'
import { createWebhookRunner, type WebhookTimes } from './modules/webhooks/webhooks.worker.ts'
import { Attempts } from './service/attempts.ts'
import type { Ctx } from './service/ctx.ts'
import { doOnce } from './service/idempotency.ts'
import { Outbound } from './service/outbound/outbound.ts'
import { WriteBudget } from './service/write-budget.ts'

export interface AppOptions extends ServerOptions {
  database: Database
  seal: Seal
  /** Directory of the built console. */
  consoleDir: string
  clock?: Clock
  passwords?: Passwords
  /** Once aborted, the server is about to close and says that it is not ready. */
  draining?: AbortSignal
  mailer?: Mailer
  /** Validates every response against the contract; for tests. */
  checkAnswers?: boolean
  /** Limit for one address; requests beyond it get 429. */
  programRequestsPerMinute?: number
  /** Interval of heartbeats and session checks on event streams. */
  heartbeatMs?: number | undefined
  /** Receives the records of each transaction after its commit. */
  onRecords?: RecordConsumer
  /** Delay of the first plan reminders after the start. */
  remindersAfterMs?: number | undefined
  /** How often deliveries of other nodes and of dead processes are looked for. */
  deliveriesEveryMs?: number | undefined
  /** How often interrupted imports are tried again. */
  importsEveryMs?: number | undefined
  /** Delay of the first check of open payments after the start. */
  reconcileAfterMs?: number | undefined
  /** How many requests of one account run at once; for tests. */
  gateSizes?: Partial<GateSizes> | undefined
  /** How many sessions an end user has at most; for tests. */
  sessionCap?: SessionCapOptions
  providerWaits?: ProviderWaits
  /** Whether this process delivers events; for tests. */
  deliversWebhooks?: boolean
  /** Whether this process runs imports from other systems; for tests. */
  runsImports?: boolean
  /** How long an old provider may take to answer. */
  oldProviderMs?: number | undefined
  /** How long a process has to use an event of a shop. */
  shopLeaseMs?: number | undefined
  /** For tests that do not wait for long. */
  webhookTimes?: WebhookTimes
  backupOptions?: BackupOptions
}

const oldProviderMs = 5000

const standbyLines = {
  away: 'commits wait for a synchronous standby of the database: writes are refused until one answers, or synchronous_standby_names is changed',
  back: 'commits of the database are confirmed again',
}

/** Without limits, nothing is counted. */
function createHookGates({ rateLimits }: Config): HookGates {
  const gate = (max: number) =>
    rateLimits === 'on' ? createFloodGate({ max, windowMs: minute }) : () => undefined
  const max = limits.hookEventsPerMinute
  return { events: gate(max), requests: gate(2 * max), refused: gate(max) }
}

/** Builds the server without listening and without reading the environment. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { config, database } = options
  const server = createServer(options)
  const clock = options.clock ?? systemClock
  const publish: RecordConsumer = (records) => {
    events.publish(records)
    activity.consume(records)
    program.consume(records)
    options.onRecords?.(records)
  }
  const vpn = new VpnRanges(config.vpnRangesFile, server.log)
  await vpn.start()
  const ctx: Ctx = {
    config,
    database,
    db: database.db,
    clock,
    seal: options.seal,
    passwords: options.passwords ?? new Passwords(),
    vpn,
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
            publish(records)
          },
          follow: (write) => accountMails.follow(write),
          wake: (queue) => wakes[queue](),
        },
        work,
        more,
      ),
  }
  const outbound = new Outbound(config)
  const logError = (error: unknown) =>
    logStorageFailure(error, server.log) ?? server.log.error({ err: error }, 'background work failed')
  database.room.onStandby = (isAway) => {
    if (isAway) server.log.error(standbyLines.away)
    else server.log.info(standbyLines.back)
  }
  database.slow.listen(config.slowQueryMs, (query) => server.log.warn(query, 'slow query'))
  const events = createEvents(ctx, { onError: logError, heartbeatMs: options.heartbeatMs })
  const activity = new ActivityLog({
    clock,
    write: (work) => ctx.tx(system, ({ tx }) => work(tx)),
    alsoWrite: queueRefusals,
    onWritten: (apps) => {
      events.notifyActivity(apps)
      wakes.webhooks()
    },
    onError: logError,
  })
  const checkAnswers = options.checkAnswers ?? false
  const attempts = new Attempts(ctx)
  const budget = new WriteBudget({
    ctx,
    attempts,
    readBytesPerHour: (scope) => getRecordBytesPerHour(ctx, scope),
    onError: logError,
  })
  const waits = options.providerWaits ?? usualWaits
  const payments: Payments = { ctx, waits, provider: createProvider(config, waits), onError: logError }
  const blocks = new BlockTables(database)
  const program = startProgram({
    ctx,
    activity,
    blocks,
    attempts,
    moves: new LazyMoves({
      ...{ ctx, attempts },
      outbound: new Outbound(config, { waits: { wholeMs: options.oldProviderMs ?? oldProviderMs } }),
    }),
    checkAnswers,
    sessionCap: options.sessionCap,
    onError: logError,
  })
  const { reads, signer, leaked } = program
  const mailer = options.mailer ?? createMailer(config, server.log)
  const mails = new MailOutbox({
    ctx,
    mailer,
    log: server.log,
    onError: logError,
    pollMs: options.deliveriesEveryMs,
    isCurrent: (mailId) => isMailCurrent(ctx.db, mailId),
    onEnded: noteMailEnd,
  })

  const backups = new ScheduledBackups(
    { ctx, mailer, log: server.log, onError: logError },
    options.backupOptions,
  )
  const port = () => (server.addresses()[0] as AddressInfo | undefined)?.port ?? config.port
  const consoleUrl = () => config.publicUrl ?? localUrl(config, port())
  const compatibility = startCompatibility({ ctx, calls: program.calls, consoleUrl, onError: logError })
  const resets = new PasswordResets({
    ...{ ctx, attempts, consoleUrl, onError: logError, pollMs: options.deliveriesEveryMs },
    requests: { owner: toOwnerRequest(ctx), reseller: toResellerRequest(ctx) },
    sendLink: (asked, take) => sendLink({ ctx, attempts, consoleUrl }, asked, take),
  })
  const accountMails = new AccountMails({ ctx, attempts, consoleUrl })
  const invitations = new Invitations({ ctx, attempts, consoleUrl })

  const webhooks = createWebhookRunner({
    ctx,
    parts: { outbound },
    onError: logError,
    consoleUrl,
    times: options.webhookTimes,
    pollMs: options.deliveriesEveryMs,
  })
  const shops = createShopRunner({
    ...{ ctx, outbound, onError: logError },
    ...{ pollMs: options.deliveriesEveryMs, leaseMs: options.shopLeaseMs },
  })
  const waitingMails = startWaitingMails(ctx, { onError: logError, pollMs: options.deliveriesEveryMs })
  const imports = new ImportRunner(ctx, { onError: logError, pollMs: options.importsEveryMs })
  const runsImports = options.runsImports ?? true
  const delivers = options.deliversWebhooks ?? true
  const wakes: Record<QueueName, () => void> = {
    mails: () => mails.wake(),
    'reset requests': () => resets.queue.wake(),
    webhooks: () => delivers && webhooks.wake(),
    'shop events': () => shops.wake(),
    'waiting mails': () => waitingMails.wake(),
  }

  const gates = createGates(options.gateSizes)
  installRequestChecks(server, config)
  installErrors(server)
  installBodies(server)
  if (offersMetrics(config)) {
    const { startMetrics } = await import('./modules/system/metrics.ts')
    startMetrics(server, {
      ...{ ctx, backups, droppedLines: () => options.log?.droppedLines ?? 0 },
      queues: () => ({
        passwords: ctx.passwords.waiting,
        requests: gates.requests.waiting + gates.keys.requests.waiting,
        jobs: gates.jobs.waiting + gates.keys.jobs.waiting,
        bodies: gates.bodies.waiting,
        program_writes: program.waitingWrites,
        lists: database.engine.waitingLists?.() ?? 0,
      }),
    })
  } else {
    server.get('/metrics', async () => {
      throw problem('not_found')
    })
  }
  await server.register(async (scope) => {
    scope.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store')
      done()
    })
    // These lines contain no secret, and searching them for one would take 15 times as long as writing them.
    const requestLog = server.log.child({}, { redact: [] })
    scope.addHook('onResponse', async (request, reply) => {
      const { id: reqId, method, routeOptions, ip, failureCode: code, account } = request
      const ms = Math.round(reply.elapsedTime)
      const { url } = routeOptions
      requestLog.info({ reqId, method, url, status: reply.statusCode, code, account, ms, ip }, 'request')
    })
    const keyGate = createFloodGate({ max: limits.apiKeyRequestsPerMinute, windowMs: minute })
    const strangers = createFloodGate({ max: limits.strangerRequestsPerMinute, windowMs: minute })
    const countKey = (id: string) => (config.rateLimits === 'on' ? keyGate(id) : undefined)
    const mount = createMount(scope, {
      checkAnswers,
      clock,
      gates,
      budget,
      attempts,
      countStranger: config.rateLimits === 'on' ? strangers : () => undefined,
      once: (actor, keyed, work) => doOnce(ctx, actor, keyed, work, logError),
      authenticators: {
        owner: (token, address) =>
          token.startsWith(apiKeyPrefix)
            ? authenticateApiKey(ctx, { token, address, count: countKey })
            : authenticatePerson(ctx, token, address),
        reseller: (token, address) => authenticateReseller(ctx, token, address),
        customer: (token, address) => authenticateCustomer(ctx, token, address),
      },
    })
    systemRoutes(mount, ctx, options.draining)
    accountRoutes(mount, ctx, attempts, resets)
    apiKeysRoutes(mount, ctx)
    webhooksRoutes(mount, { ctx, findFault: (url) => outbound.findFault(url) })
    shopsRoutes(mount, { ctx, attempts, budget, gates: createHookGates(config) })
    vendorsRoutes(mount, ctx, attempts)
    membersRoutes(mount, ctx, invitations)
    appsRoutes(mount, ctx)
    appMailsRoutes(mount, { ctx, accountMails })
    lazyMoveRoutes(mount, { ctx, findFault: (url) => outbound.findFault(url) })
    blocklistRoutes(mount, ctx)
    signingKeysRoutes(mount, ctx)
    compatibilityRoutes(mount, compatibility)
    auditRoutes(mount, ctx)
    explanationsRoutes(mount, { ctx, reads, blocks })
    releasesRoutes(mount, ctx)
    variablesRoutes(mount, ctx)
    licensesRoutes(mount, ctx)
    licenseTypesRoutes(mount, ctx)
    endUsersRoutes(mount, { ctx, attempts, consoleUrl })
    customerRecordsRoutes(mount, ctx, activity)
    customerPageRoutes(mount, { ctx, attempts, activity, blocks, reads, signer, leaked, resets })
    offlineActivationsRoutes(mount, { ctx, activity, blocks, reads, signer })
    resellersRoutes(mount, ctx)
    bulkRoutes(mount, ctx)
    importsRoutes(mount, ctx, imports, () => runsImports && imports.wake())
    portalRoutes(mount, ctx, attempts, resets)
    plansRoutes(mount, ctx)
    const factors = { ctx, attempts }
    secondFactorRoutes(mount, factors, endpoints.secondFactor, accountHolders(ctx, resets))
    secondFactorRoutes(mount, factors, endpoints.portalSecondFactor, portalHolders(ctx, resets))
    accountSessionsRoutes(mount, factors)
    portalSessionsRoutes(mount, factors)
    paymentsRoutes(mount, { payments, attempts, readUser: (actor) => getUser(ctx, actor) })
    dashboardRoutes(mount, ctx)
    eventsRoutes(mount, events)
    platformRoutes(mount, ctx, attempts)
    notificationsRoutes(mount, ctx, new EmailConfirmations({ ctx, attempts, consoleUrl }))
  })
  const gateOf = (max: number) => {
    const gate = createFloodGate({ max, windowMs: minute })
    return ({ ip }: FastifyRequest) => (config.rateLimits === 'on' ? gate(visitorOf(ip)) : undefined)
  }
  const programsMax = options.programRequestsPerMinute ?? limits.strangerRequestsPerMinute
  const refuseFlood = gateOf(programsMax)
  await server.register(async (scope) => {
    scope.setChildLoggerFactory(lazyLogger)
    program.mount(scope, refuseFlood)
  })
  await server.register(async (scope) => {
    scope.setChildLoggerFactory(lazyLogger)
    compatibility.mount(scope, { refuseFlood, refuseUnread: gateOf(2 * programsMax) })
  })
  await server.register((scope) => installPages(scope, config, options.consoleDir))

  const stopReconciler = startReconciler(payments, options.reconcileAfterMs)
  const stopHousekeeping = startHousekeeping(ctx, {
    onError: logError,
    warn: (text) => server.log.warn(text),
    pauseFullWebhooks: () => pauseFullWebhooks({ ctx, consoleUrl }),
    remindersAfterMs: options.remindersAfterMs,
  })
  const stopErasures = startErasures(
    { ctx, log: activity },
    { onError: logError, pollMs: options.deliveriesEveryMs },
  )
  const stopNotifications = startNotifications(
    ctx,
    { consoleUrl, onError: logError },
    options.remindersAfterMs,
  )
  server.addHook('onReady', async () => {
    await events.start()
    mails.start()
    if (delivers) webhooks.start()
    shops.start()
    if (runsImports) await imports.start()
    resets.queue.start()
    backups.start()
  })
  server.addHook('preClose', async () => events.endStreams())
  server.addHook('onClose', async () => {
    vpn.stop()
    await Promise.all([
      stopHousekeeping(),
      stopErasures(),
      stopNotifications(),
      resets.queue.end(),
      mails.end(),
      backups.end(),
    ])
    mailer.close()
    await stopReconciler()
    await webhooks.end()
    await shops.end()
    await waitingMails.end()
    await compatibility.close()
    await imports.end()
    await program.close()
    await activity.close()
    await budget.ended()
    await events.stop()
  })
  return server
}

import { readdir } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import { problem } from '../../core/problem.ts'
import { version } from '../../core/version.ts'
import type { Ctx } from '../../service/ctx.ts'
import { readMailQueue } from '../mail/mail.status.ts'
import { readWebhookQueue } from '../webhooks/webhooks.status.ts'
import { newestBackup } from './backups.rules.ts'
import { mayReadMetrics } from './metrics.rules.ts'
import type { ScheduledBackups } from './scheduled-backups.ts'

interface Options {
  ctx: Ctx
  backups: Pick<ScheduledBackups, 'made' | 'isFailing'>
  /** Callers that wait, by what they wait for. */
  queues: () => Record<string, number>
  /** How many lines of the log were dropped. */
  droppedLines: () => number
}

/** A check takes a millisecond, a sign-in a hundred. */
const buckets = [0.002, 0.01, 0.05, 0.25, 1, 5]
/** However often it is asked, the database is read once in this time. */
const freshMs = 5_000

let ofProcess: Registry | undefined

/** Memory, processor time and event loop of this process, which all servers in it share. */
function processRegistry(): Registry {
  if (!ofProcess) {
    ofProcess = openMetrics()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}

function openMetrics(): Registry {
  const registry = new Registry()
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never)
  return registry
}

/** Counts every request, and serves `/metrics` in the OpenMetrics format. */
export function startMetrics(server: FastifyInstance, options: Options): void {
  const { ctx } = options
  const registry = openMetrics()
  countRequests(server, registry)
  const refresh = showState(registry, options)
  let refreshed: Promise<void> | undefined
  let refreshedAt = Number.NEGATIVE_INFINITY
  server.get('/metrics', async (request, reply) => {
    if (!mayReadMetrics(ctx.config, request.headers.authorization)) throw problem('unauthorized')
    if (performance.now() - refreshedAt > freshMs) {
      refreshedAt = performance.now()
      refreshed = refresh()
    }
    await refreshed
    const all = Registry.merge([processRegistry(), registry])
    all.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never)
    return reply
      .header('cache-control', 'no-store')
      .type(Registry.OPENMETRICS_CONTENT_TYPE)
      .send(await all.metrics())
  })
}

/** The requests of one route, method and status, counted by how long they took; the last count is of the slowest. */
interface Tally {
  labels: { method: string; route: string; status: string }
  counts: number[]
  seconds: number
}

/** A histogram of prom-client would check its labels and search for them with each request. */
function showTallies(registry: Registry, tallies: ReadonlyMap<string, Tally>): void {
  const name = 'keyward_request_seconds'
  const valuesOf = ({ labels, counts, seconds }: Tally) => {
    let count = 0
    const counted = [...buckets, '+Inf'].map((le, at) => {
      count += counts[at] ?? 0
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
    })
    const sum = { metricName: `${name}_sum`, labels, value: seconds }
    return [...counted, sum, { metricName: `${name}_count`, labels, value: count }]
  }
  const help = 'Time until a request was answered, by its route and status'
  const get = async () => ({ name, help, type: 'histogram', values: [...tallies.values()].flatMap(valuesOf) })
  registry.registerMetric({ name, get } as unknown as Metric)
}

function countRequests(server: FastifyInstance, registry: Registry): void {
  const tallies = new Map<string, Tally>()
  showTallies(registry, tallies)
  const refusals = new Counter({
    name: 'keyward_refusals_total',
    help: 'Requests that were refused, and keys that were found invalid, by code',
    labelNames: ['code'],
    registers: [registry],
  })
  server.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, failureCode } = request
    const status = String(reply.statusCode)
    // Paths that no route has are countless.
    const route = routeOptions.url ?? 'none'
    const name = `${method} ${route} ${status}`
    let tally = tallies.get(name)
    if (!tally) {
      tally = { labels: { method, route, status }, counts: Array(buckets.length + 1).fill(0), seconds: 0 }
      tallies.set(name, tally)
    }
    const seconds = reply.elapsedTime / 1000
    const bucket = buckets.findIndex((most) => seconds <= most)
    const at = bucket < 0 ? buckets.length : bucket
    tally.counts[at] = (tally.counts[at] ?? 0) + 1
    tally.seconds += seconds
    if (failureCode !== undefined) refusals.inc({ code: failureCode })
    done()
  })
}

/** Returns what reads the state of the server anew. */
function showState(registry: Registry, { ctx, backups, queues, droppedLines }: Options): () => Promise<void> {
  const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `keyward_${name}`, help, labelNames, registers: [registry] })
  const info = gauge('info', 'The version of the server, always 1', 'version')
  info.set({ version }, 1)
  const up = gauge('database_up', 'Whether the database answers')
  const connections = gauge('database_connections', 'Connections to a database server', 'state')
  const waiting = gauge('outbox_waiting', 'Deliveries that wait', 'outbox')
  const oldest = gauge('outbox_oldest_seconds', 'Age of the oldest delivery that waits', 'outbox')
  const failing = gauge('outbox_failing', 'Deliveries that wait and failed at least once', 'outbox')
  const failed = gauge('outbox_failed_day', 'Deliveries given up in the last 24 hours', 'outbox')
  const queued = gauge('queue_waiting', 'Callers that wait for a turn', 'queue')
  const backup = gauge('backup_age_seconds', 'Age of the newest backup in BACKUP_DIR; absent without one')
  const backupFails = gauge('scheduled_backup_failing', 'Whether the last scheduled backup failed')
  const backupsMade = new Counter({
    name: 'keyward_scheduled_backups_total',
    help: 'Scheduled backups since the start, by whether they were made and verified',
    labelNames: ['result'],
    registers: [registry],
  })
  const slow = new Counter({
    name: 'keyward_slow_queries_total',
    help: 'Statements of the database that took longer than SLOW_QUERY_MS',
    registers: [registry],
  })
  const dropped = new Counter({
    name: 'keyward_log_lines_dropped_total',
    help: 'Log lines that could not be written',
    registers: [registry],
  })

  async function readDatabase(): Promise<void> {
    const now = ctx.clock.now()
    const isUp = await ctx.database.engine.probe().then(
      () => true,
      () => false,
    )
    up.set(Number(isUp))
    if (!isUp) return
    for (const state of await Promise.all([readMailQueue(ctx.db, now), readWebhookQueue(ctx.db, now)])) {
      const outbox = state.queue
      waiting.set({ outbox }, state.waiting)
      oldest.set({ outbox }, state.waitingSince === null ? 0 : (now - state.waitingSince) / 1000)
      failing.set({ outbox }, state.failing)
      failed.set({ outbox }, state.failedLastDay)
    }
  }

  async function readBackups(): Promise<void> {
    backup.reset()
    backup.remove()
    if (ctx.config.databaseUrl !== undefined) return
    const now = ctx.clock.now()
    const names = await readdir(ctx.config.backups.directory).catch(() => [])
    const newest = newestBackup(names, now)
    if (newest !== undefined) backup.set((now - newest) / 1000)
  }

  return async () => {
    for (const [queue, count] of Object.entries(queues())) queued.set({ queue }, count)
    for (const [state, count] of Object.entries(ctx.database.engine.connections?.() ?? {}))
      connections.set({ state }, count)
    backupFails.set(Number(backups.isFailing))
    backupsMade.reset()
    for (const [result, count] of Object.entries(backups.made)) backupsMade.inc({ result }, count)
    slow.reset()
    slow.inc(ctx.database.slow.count)
    dropped.reset()
    dropped.inc(droppedLines())
    await Promise.all([readDatabase().catch(() => up.set(0)), readBackups()])
  }
}

import { setImmediate } from 'node:timers/promises'
import { type ImportedRow, unlimited } from '@keyward/contract'
import type { CompiledQuery } from 'kysely'
import type { VendorActor } from '../../core/actor.ts'
import { Gate } from '../../core/gate.ts'
import { problem } from '../../core/problem.ts'
import {
  type Database,
  type Db,
  isUniqueViolation,
  patientForRows,
  readPatiently,
  type Tx,
} from '../../db/open.ts'
import type { Write } from '../../db/record.ts'
import { toTyped } from '../../db/typed-keys.ts'
import type { Ctx } from '../../service/ctx.ts'
import { doOnce, type KeyedRequest, type Once } from '../../service/idempotency.ts'
import { lockApp, readFreePlaces, reserveLicenses } from '../apps/apps.access.ts'
import { getApp } from '../apps/apps.service.ts'
import { readTypesByName } from '../license-types/license-types.access.ts'
import { takenKeys } from '../licenses/licenses.access.ts'
import { draftLicenses, insertsOf } from '../licenses/licenses.issue.ts'
import { getLimits } from '../owners/owners.service.ts'
import {
  decide,
  type ImportLine,
  type ImportResult,
  readImport,
  toResult,
  withSkipped,
} from './import.rules.ts'
import { importInSlices, isSliced, settleImport } from './import.slices.ts'

interface ImportRequest {
  app: string
  csv: string
  dryRun: boolean
}

/** Imports licenses from CSV, all or none; a dry run reports the outcome and changes nothing. */
export const importLicenses = (
  ctx: Ctx,
  actor: VendorActor,
  request: ImportRequest,
  keyed?: KeyedRequest,
): Promise<ImportResult> =>
  doOnce(
    ctx,
    actor,
    request.dryRun ? undefined : keyed,
    (once) => insertImport(ctx, actor, request, once),
    (id) => settleImport(ctx, actor, id),
  )

async function insertImport(
  ctx: Ctx,
  actor: VendorActor,
  request: ImportRequest,
  once: Once<ImportResult>,
): Promise<ImportResult> {
  const now = ctx.clock.now()
  const { maxLicensesPerApp: max } = await getLimits(ctx, actor)
  const app = await getApp(ctx.db, actor, request.app)
  const { lines, ignoredColumns } = await readImport(request.csv, {
    now,
    customKeys: app.allow_custom_keys === 1,
    types: await readTypesByName(ctx.db, app.id),
  })
  const message = `Your plan allows ${max} licenses per app`
  const answer = (rows: ImportedRow[]) => toResult(rows, { dryRun: request.dryRun, ignoredColumns })
  if (request.dryRun) {
    const free = max === unlimited ? lines.length : await readFreePlaces(ctx.db, app, max, now)
    return answer(decide(lines, await findTaken(ctx.db, app.id, lines), { free, message }))
  }
  refuseMistakes(lines)
  const draft = async (db: Db) => {
    const rows = decide(lines, await findTaken(db, app.id, lines), { free: lines.length, message })
    const drafts = rows.flatMap((row, at) => {
      const { key, note, sold, ban, keyPrefix } = lines[at] ?? {}
      return row.outcome === 'created' && sold ? [{ key, keyPrefix, note, sold, ban }] : []
    })
    const made = await draftLicenses({ ownerId: actor.ownerId, appId: app.id, now }, drafts)
    const keys = made.values()
    const withKeys = rows.map((row) =>
      row.outcome === 'created' ? { ...row, key: keys.next().value?.key ?? null } : row,
    )
    const result = answer(withKeys)
    return { made, result, keep: await once.pack(result) }
  }
  const lock = async (tx: Tx): Promise<void> => {
    if (!(await lockApp(tx, actor, app.id))) throw problem('not_found')
  }
  const reserve = async (tx: Tx, count: number): Promise<void> => {
    if (!(await reserveLicenses(tx, actor, app.id, count, max, now))) {
      throw problem('plan_limit_reached', { message })
    }
  }
  if (isSliced(ctx.db, lines.length)) {
    const endTurn = await turns.enter('imports')
    try {
      const { made, result, keep } = await draft(ctx.database.lists)
      const stored = { appId: app.id, licenses: made, now, answerId: once.id }
      const skipped = await importInSlices(ctx, actor, stored, async (write) => {
        await lock(write.tx)
        await reserve(write.tx, made.length)
        keep(write)
      })
      return withSkipped(result, skipped)
    } finally {
      endTurn()
    }
  }
  const prepare = async (db: Db): Promise<Prepared> => {
    const { made, result, keep } = await draft(db)
    const inserts: CompiledQuery[] = []
    for await (const insert of insertsOf(db, made)) inserts.push(insert)
    return { count: made.length, inserts, result, keep }
  }
  const store = (prepared?: Prepared) =>
    ctx.tx(
      actor,
      async (write) => {
        const { tx } = write
        // Locks the app, so that no license is created between the decision and the insert.
        await lock(tx)
        const { count, inserts, result, keep } = prepared ?? (await prepare(tx))
        await reserve(tx, count)
        write.record('licenses.imported', app.id, { count })
        write.last(() => each(inserts))
        keep(write)
        return result
      },
      patientForRows(lines.length),
    )
  const ahead = preparedAhead.get(ctx.database) ?? 0
  if (ahead >= aheadMost) return store()
  preparedAhead.set(ctx.database, ahead + 1)
  try {
    // Other writes wait for the transaction, so that everything is prepared before it.
    return await store(await readPatiently(() => prepare(ctx.database.lists)))
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    // One of the keys was created in the meantime.
    return await store()
  } finally {
    preparedAhead.set(ctx.database, (preparedAhead.get(ctx.database) ?? 1) - 1)
  }
}

/** A prepared import takes some 20 MB until it is stored; beyond so many, others prepare inside of their transaction. */
const aheadMost = 4
const preparedAhead = new WeakMap<Database, number>()
/** Imports in slices wait for each other: otherwise the first ones would be answered as late as the last ones. */
const turns = new Gate({
  running: aheadMost,
  waiting: Number.POSITIVE_INFINITY,
  rejection: () => problem('job_running'),
})

interface Prepared {
  /** Licenses to be created. */
  count: number
  inserts: CompiledQuery[]
  result: ImportResult
  keep: (write: Write) => void
}

async function* each(queries: readonly CompiledQuery[]): AsyncGenerator<CompiledQuery> {
  for (const [at, query] of queries.entries()) {
    if (at > 0) await setImmediate()
    yield query
  }
}

const sliceSize = 500

async function findTaken(db: Db, appId: string, lines: readonly ImportLine[]): Promise<Set<string>> {
  const keys = lines.flatMap((line) => (line.keyNormalized === undefined ? [] : toTyped(line.keyNormalized)))
  const taken = new Set<string>()
  for (let at = 0; at < keys.length; at += sliceSize) {
    if (at > 0) await setImmediate()
    for (const key of await takenKeys(db, appId, keys.slice(at, at + sliceSize))) taken.add(key)
  }
  return taken
}

const issuesMax = 100

function refuseMistakes(lines: readonly ImportLine[]): void {
  const wrong = lines.filter((line) => line.problem !== undefined)
  if (wrong.length === 0) return
  const issues = wrong.slice(0, issuesMax).map(({ line, problem: found }) => ({
    path: `csv.${line}`,
    message: `Line ${line}: ${found}`,
  }))
  const message = `${wrong.length} of ${lines.length} rows cannot be imported. Nothing was imported.`
  throw problem('invalid_input', { message, issues })
}

import { setImmediate } from 'node:timers/promises'
import { type ImportedRow, unlimited } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { Gate } from '../../core/gate.ts'
import { problem, rateLimited } from '../../core/problem.ts'
import { type Db, isMany, readPatiently, stepsOf, type WriteTransaction } from '../../db/index.ts'
import { toTyped } from '../../db/typed-keys.ts'
import type { Ctx } from '../../service/ctx.ts'
import { lockApp, readFreePlaces, reserveLicenses } from '../apps/apps.access.ts'
import { getApp } from '../apps/apps.service.ts'
import { insertFreeLicenses } from '../entitlements/license-rows.ts'
import { readTypesByName } from '../license-types/license-types.access.ts'
import { takenKeys } from '../licenses/licenses.access.ts'
import { draftLicenses, type LicenseDraft } from '../licenses/licenses.issue.ts'
import { getLimits } from '../owners/owners.service.ts'
import {
  decide,
  type ImportLine,
  type ImportResult,
  readImport,
  toResult,
  withSkipped,
} from './import.rules.ts'
import { explainSkips, importInSlices, isSliced, type PreparedImport } from './import.slices.ts'

interface ImportRequest {
  app: string
  csv: string
  dryRun: boolean
}

/** Imports licenses from CSV, all or none; a dry run reports the outcome and changes nothing. */
export async function importLicenses(
  ctx: Ctx,
  actor: VendorActor,
  request: ImportRequest,
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
  // Large ones wait for each other: the first ones would otherwise be answered as late as the last ones.
  const endTurn = isMany(lines.length) ? await turns.enter('imports') : () => {}
  try {
    const taken = await readPatiently(() => findTaken(ctx.database.lists, app.id, lines))
    const rows = decide(lines, taken, { free: lines.length, message })
    const licenses = await draftLicenses(
      { ownerId: actor.ownerId, appId: app.id, now },
      toDrafts(lines, rows),
    )
    const result = answer(withKeys(rows, licenses))
    const reserve = async (write: WriteTransaction): Promise<void> => {
      const { tx } = write
      const waitMs = write.waitToGrow()
      if (waitMs > 0) throw rateLimited(waitMs)
      if (!(await lockApp(tx, actor, app.id))) throw problem('not_found')
      if (!(await reserveLicenses(tx, actor, app.id, licenses.length, max, now))) {
        throw problem('plan_limit_reached', { message })
      }
    }
    const create = isSliced(ctx.db, lines.length) ? importInSlices : importAtOnce
    return await create(ctx, actor, { appId: app.id, licenses, now, result }, reserve)
  } finally {
    endTurn()
  }
}

const turns = new Gate({
  running: 4,
  waiting: Number.POSITIVE_INFINITY,
  rejection: () => problem('job_running'),
})

const toDrafts = (lines: readonly ImportLine[], rows: readonly ImportedRow[]): LicenseDraft[] =>
  rows.flatMap((row, at) => {
    const { key, note, terms, ban, keyPrefix } = lines[at] ?? {}
    return row.outcome === 'created' && terms ? [{ key, keyPrefix, note, terms, ban }] : []
  })

function withKeys(rows: readonly ImportedRow[], licenses: readonly { key: string }[]): ImportedRow[] {
  const created = licenses.values()
  return rows.map((row) =>
    row.outcome === 'created' ? { ...row, key: created.next().value?.key ?? null } : row,
  )
}

/** One transaction, which on PostgreSQL keeps no other account waiting. */
async function importAtOnce(
  ctx: Ctx,
  actor: VendorActor,
  { appId, licenses, result }: PreparedImport,
  reserve: (write: WriteTransaction) => Promise<void>,
): Promise<ImportResult> {
  await stepsOf(actor)?.pack(result)
  const store = async (write: WriteTransaction): Promise<ImportResult> => {
    await reserve(write)
    const issued = await insertFreeLicenses(write.tx, licenses)
    const taken = licenses.flatMap(({ key }) => (issued.has(key) ? [] : key))
    write.record('licenses.imported', appId, { count: issued.size }, appId)
    return taken.length === 0 ? result : withSkipped(result, await explainSkips(write.tx, appId, taken))
  }
  return ctx.tx(actor, store, { isPatient: true })
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

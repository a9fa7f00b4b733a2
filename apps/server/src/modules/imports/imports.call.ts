import { setImmediate } from 'node:timers/promises'
import {
  type BodyOf,
  type DataOf,
  type endpoints,
  type ImportedRow,
  instant,
  limits,
  unlimited,
} from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { hour, toEpochMs, toIsoOrNull } from '../../core/clock.ts'
import { newId, toTyped } from '../../core/ids.ts'
import { invalid, problem, rateLimited } from '../../core/problem.ts'
import { Gate } from '../../core/queues/gate.ts'
import { storageFailureOf } from '../../db/failure.ts'
import { type Db, isMany, prepared, readPatiently, stepsOf, type WriteTransaction } from '../../db/index.ts'
import { displayedEnd } from '../../db/stored-end.ts'
import { called } from '../../db/tables/imports.ts'
import type { Ctx } from '../../service/ctx.ts'
import { forgetAnswer } from '../../service/stored-answers.ts'
import { findApp, getApp, holdPlaces, lockApp, readFreePlaces, reserveLicenses } from '../apps/apps.access.ts'
import { readTypesByName } from '../license-types/license-types.access.ts'
import { takenKeys } from '../licenses/licenses.access.ts'
import { getLimits } from '../owners/owners.service.ts'
import { draftLicense, type LicenseDraft, type Target } from './drafts.ts'
import { takenMessage } from './imports.apply.ts'
import { claimMs } from './imports.claim.ts'
import * as repo from './imports.repo.ts'
import type { ImportRunner } from './imports.runner.ts'
import { toActorColumns } from './imports.service.ts'
import { openKeywardList } from './presets/keyward.ts'
import { type ImportedLicense, UnreadableFiles } from './rows.ts'

type Call = typeof endpoints.bulk.importLicenses
type Result = DataOf<Call>

interface Line {
  read: ImportedLicense
  draft: LicenseDraft | undefined
  problem: string | undefined
}

/**
 * Imports licenses from a list of Keyward, all or none, and waits for their end; a dry run reports the outcome and changes
 * nothing. The transaction that checks the plan stores them as an import of their own, which cannot be lost after it.
 */
export async function importLicenses(
  ctx: Ctx,
  runner: Pick<ImportRunner, 'newClaim' | 'complete'>,
  actor: VendorActor,
  { app: name, csv, dryRun }: BodyOf<Call>,
): Promise<Result> {
  const now = ctx.clock.now()
  const { maxLicensesPerApp: max } = await getLimits(ctx, actor)
  const app = await getApp(ctx.db, actor, name)
  const types = await readTypesByName(ctx.db, app.id)
  const target = { ownerId: actor.ownerId, appId: app.id, types, now }
  const { lines, ignoredColumns } = await readLines(csv, app.allow_custom_keys === 1, target)
  const message = `Your plan allows ${max} licenses per app`
  const answer = (rows: ImportedRow[]) => toResult(rows, { dryRun, ignoredColumns })
  if (dryRun) {
    const free = max === unlimited ? lines.length : await readFreePlaces(ctx.db, app, max, now)
    return answer(decide(lines, await findTaken(ctx.db, app.id, lines), { free, message }))
  }
  refuseMistakes(lines)
  // Large ones wait for each other: the first ones would otherwise be answered as late as the last ones.
  const endTurn = isMany(lines.length) ? await turns.enter('imports') : () => {}
  try {
    const taken = await readPatiently(() => findTaken(ctx.database.lists, app.id, lines))
    const rows = decide(lines, taken, { free: lines.length, message })
    const drafts = lines
      .filter((_, at) => rows[at]?.outcome === 'created')
      .flatMap(({ draft }) => draft ?? [])
    const [id, claim] = [newId('imp'), runner.newClaim()]
    const made = { id, result: answer(withKeys(rows, drafts)) }
    const inserts = await insertsOf(ctx.db, { id, claim, actor, target }, drafts)
    await stepsOf(actor)?.pack(made)
    const store = async (write: WriteTransaction) => {
      const { tx } = write
      // It is tried again if PostgreSQL did not say whether it was committed.
      if (await repo.findImport(tx, actor, id)) return made
      const waitMs = write.waitToGrow()
      if (waitMs > 0) throw rateLimited(waitMs)
      if (!(await lockApp(tx, actor, app.id))) throw problem('not_found')
      if (!(await reserveLicenses(tx, actor, app.id, drafts.length, max, now)))
        throw problem('plan_limit_reached', { message })
      await holdPlaces(tx, actor, app.id, drafts.length)
      write.last(inserts)
      return made
    }
    // A repeat with the same Idempotency-Key gets the import that the first request has stored.
    const stored = await ctx.tx(actor, store, { rows: drafts.length, isPatient: true })
    // The import is stored: a caller that got an error now and tried again would import the rows twice.
    await readPatiently(() => runner.complete(stored.id, claim)).catch(async (error) => {
      if (storageFailureOf(error) === undefined) await withdraw(ctx, actor, { id: stored.id, claim })
      throw toLater(error)
    })
    if (!(await readPatiently(() => findApp(ctx.db, actor, app.id)))) {
      const steps = stepsOf(actor)
      if (steps) await ctx.tx(actor, (write) => forgetAnswer(write, steps.id), { isStep: false })
      throw problem('not_found')
    }
    return withSkipped(stored.result, await readPatiently(() => repo.listSkipped(ctx.db, stored.id)))
  } finally {
    endTurn()
  }
}

const turns = new Gate({
  running: 4,
  waiting: Number.POSITIVE_INFINITY,
  rejection: () => problem('job_running'),
})

const readAtOnce = 100

export async function readLines(
  csv: string,
  customKeys: boolean,
  target: Target,
): Promise<{ lines: Line[]; ignoredColumns: string[] }> {
  const lines: Line[] = []
  try {
    const { rows, ignoredColumns } = openKeywardList('', csv, customKeys)
    for (const read of rows) {
      if (lines.length >= limits.importRowsMax)
        throw invalid('csv', `At most ${limits.importRowsMax} rows can be imported at once`)
      if (lines.length % readAtOnce === 0) await setImmediate()
      const draft = draftLicense(read, target)
      const wrong = 'problem' in draft
      lines.push({
        read,
        draft: wrong ? undefined : draft,
        problem: read.problem ?? (wrong ? draft.problem : undefined),
      })
    }
    return { lines, ignoredColumns }
  } catch (error) {
    if (error instanceof UnreadableFiles) throw invalid('csv', error.message)
    throw error
  }
}

const keyOf = ({ read, draft }: Line): string | undefined =>
  read.key === '' ? undefined : draft?.license.key_normalized

const lookedUpAtOnce = 500

async function findTaken(db: Db, appId: string, lines: readonly Line[]): Promise<Set<string>> {
  const keys = lines.flatMap((line) => keyOf(line) ?? []).map(toTyped)
  const taken = new Set<string>()
  for (let at = 0; at < keys.length; at += lookedUpAtOnce) {
    if (at > 0) await setImmediate()
    for (const key of await takenKeys(db, appId, keys.slice(at, at + lookedUpAtOnce))) taken.add(key)
  }
  return taken
}

/** Decides the outcome of each line from the app's existing keys and the remaining licenses; creates each key once. */
function decide(
  lines: readonly Line[],
  taken: ReadonlySet<string>,
  room: { free: number; message: string },
): ImportedRow[] {
  const exact = new Set(taken)
  const typed = new Set([...taken].map(toTyped))
  let free = room.free
  return lines.map((line) => {
    const { expiresAt, ...cells } = line.read.cells ?? {}
    const row = {
      line: line.read.line,
      key: line.read.key || null,
      expiresAt: toIsoOrNull(displayedEndOf(line)),
      note: line.read.note ?? null,
      sold: Object.fromEntries(Object.entries(cells).filter(([, cell]) => cell !== '')),
    }
    if (line.problem !== undefined) return { ...row, outcome: 'error', message: line.problem }
    const key = keyOf(line)
    if (key !== undefined) {
      const isExact = exact.has(key)
      if (isExact || typed.has(toTyped(key)))
        return { ...row, outcome: 'skipped', message: takenMessage(isExact) }
      exact.add(key)
      typed.add(toTyped(key))
    }
    if (free <= 0) return { ...row, outcome: 'error', message: room.message }
    free -= 1
    return { ...row, outcome: 'created', message: null }
  })
}

/** The line's expiry, even if it has passed. */
function displayedEndOf({ draft, read }: Line): number | null {
  if (draft) return displayedEnd(draft.license, 0)
  const { expiresAt = '' } = read.cells ?? {}
  return instant.safeParse(expiresAt).success ? toEpochMs(expiresAt) : null
}

function toResult(rows: ImportedRow[], facts: Pick<Result, 'dryRun' | 'ignoredColumns'>): Result {
  const count = (outcome: ImportedRow['outcome']) => rows.filter((row) => row.outcome === outcome).length
  return { ...facts, created: count('created'), skipped: count('skipped'), failed: count('error'), rows }
}

function withKeys(rows: readonly ImportedRow[], drafts: readonly LicenseDraft[]): ImportedRow[] {
  const created = drafts.values()
  return rows.map((row) =>
    row.outcome === 'created' ? { ...row, key: created.next().value?.license.key ?? null } : row,
  )
}

/** Keys that others have taken since the decision. */
function withSkipped(result: Result, skipped: ReadonlyMap<string, string | null>): Result {
  if (skipped.size === 0) return result
  const rows = result.rows.map((row): ImportedRow => {
    const isSkipped = row.outcome === 'created' && skipped.has(row.key ?? '')
    return isSkipped ? { ...row, outcome: 'skipped', message: skipped.get(row.key ?? '') ?? null } : row
  })
  return toResult(rows, result)
}

const issuesMax = 100

function refuseMistakes(lines: readonly Line[]): void {
  const wrong = lines.filter((line) => line.problem !== undefined)
  if (wrong.length === 0) return
  const issues = wrong.slice(0, issuesMax).map(({ read: { line }, problem: found }) => ({
    path: `csv.${line}`,
    message: `Line ${line}: ${found}`,
  }))
  const message = `${wrong.length} of ${lines.length} rows cannot be imported. Nothing was imported.`
  throw problem('invalid_input', { message, issues })
}

/** Deletes an import that failed before its first row, and frees the places reserved for it. */
const withdraw = (
  ctx: Ctx,
  actor: VendorActor,
  { id, claim }: { id: string; claim: string },
): Promise<void> =>
  ctx.tx(actor, async ({ tx }) => {
    const row = await repo.lockImport(tx, actor, id)
    if (row?.claim !== claim || row.done > 0) return
    await holdPlaces(tx, actor, row.app_id, -row.row_count)
    await repo.deleteImport(tx, id)
  })

function toLater(error: unknown): unknown {
  const failure = storageFailureOf(error)
  return failure
    ? problem(failure, {
        message:
          'The import is stored, and the server completes it as soon as it can write again. Do not import these rows again.',
      })
    : error
}

const insertedAtOnce = 500

/** An import whose rows are licenses with their columns: those that the plan's limit counts from the start. */
async function insertsOf(
  db: Db,
  { id, claim, actor, target }: { id: string; claim: string; actor: VendorActor; target: Target },
  drafts: readonly LicenseDraft[],
) {
  const { appId: app_id, now } = target
  const columns = Object.keys(drafts[0]?.license ?? {}) as (keyof LicenseDraft['license'])[]
  const job = {
    ...{ id, owner_id: actor.ownerId, app_id, ...toActorColumns(actor) },
    mapping: JSON.stringify(columns),
    ...({ preset: called, state: 'running', dry_run: 0, is_read: 1 } as const),
    ...{ row_count: drafts.length, claim, claimed_until: now + claimMs },
    ...{ kept_until: now + limits.idempotencyHours * hour, created_at: now },
  }
  const inserts = [prepared.insert(db, 'data_imports', [job])]
  for (let at = 0; at < drafts.length; at += insertedAtOnce) {
    await setImmediate()
    const rows = drafts.slice(at, at + insertedAtOnce).map(({ license }, place) => ({
      ...{ import_id: id, app_id, n: at + place + 1, unit: at + place + 1, file: '', line: 0 },
      ...({ kind: 'license', name: license.key, outcome: null, message: null } as const),
      content: JSON.stringify(columns.map((column) => license[column])),
      ...{ license_id: null, client_id: null },
    }))
    inserts.push(prepared.insert(db, 'data_import_rows', rows))
  }
  return inserts
}

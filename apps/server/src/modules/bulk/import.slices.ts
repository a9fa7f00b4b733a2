import { setImmediate } from 'node:timers/promises'
import type { CompiledQuery } from 'kysely'
import { actorOfStored, type OwnerScope, type VendorActor } from '../../core/actor.ts'
import { newId } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import { storageFailureOf } from '../../db/failure.ts'
import {
  type Db,
  holdsUpOthers,
  inSlices,
  stepsOf,
  type Tx,
  toJson,
  type WriteTransaction,
} from '../../db/index.ts'
import type { ImportRow } from '../../db/tables.ts'
import { toTypedKey } from '../../db/typed-keys.ts'
import type { Ctx } from '../../service/ctx.ts'
import { amendResult, forgetAnswer } from '../../service/stored-answers.ts'
import { holdPlaces, lockApp } from '../apps/apps.access.ts'
import { insertStoredLicenses, type NewLicense } from '../entitlements/license-rows.ts'
import { takenKeys } from '../licenses/licenses.access.ts'
import * as repo from './import.repo.ts'
import { type ImportResult, type Skipped, takenMessage, withSkipped } from './import.rules.ts'

type Ready = Pick<Ctx, 'db' | 'tx' | 'seal'>

const chunkSize = 20
const insertedAtOnce = 50

/** Imports that this process is completing. */
const completing = new Map<string, Promise<unknown>>()

function tracked<T>(id: string, work: () => Promise<T>): Promise<T> {
  const running = work().finally(() => completing.delete(id))
  completing.set(id, running)
  return running
}

/**
 * Whether an import is stored first and then becomes licenses in slices. On SQLite all other writes would wait for one
 * transaction of many rows.
 */
export const isSliced = (db: Db, rows: number): boolean => holdsUpOthers(db, rows)

/** Licenses that are to be created, and the answer if all of them are. */
export interface PreparedImport {
  appId: string
  licenses: readonly NewLicense[]
  now: number
  result: ImportResult
}

/**
 * Stores new licenses in one step, after which they cannot be lost, and then adds them to the app in slices. `reserve`
 * checks the app and its limit in the transaction that stores them.
 */
export async function importInSlices(
  ctx: Ready,
  actor: VendorActor,
  { appId, licenses, now, result }: PreparedImport,
  reserve: (write: WriteTransaction) => Promise<void>,
): Promise<ImportResult> {
  const steps = stepsOf(actor)
  if (steps) await settleImport(ctx, actor, steps.id)
  const [id, count] = [newId('imp'), licenses.length]
  const columns = Object.keys(licenses[0] ?? {}) as (keyof NewLicense)[]
  const row = {
    id,
    owner_id: actor.ownerId,
    app_id: appId,
    actor_kind: actor.kind,
    actor_id: actor.actorId,
    session_id: actor.sessionId ?? '',
    address: actor.address,
    column_names: JSON.stringify(columns),
    count,
    answer_id: steps?.id ?? null,
    created_at: now,
  }
  const inserts = [repo.insertOfImport(ctx.db, row)]
  for await (const insert of insertsOf(ctx.db, id, columns, licenses)) inserts.push(insert)
  const made = { id, result }
  await steps?.pack(made)
  const store = async (write: WriteTransaction): Promise<StoredImport> => {
    await reserve(write)
    await holdPlaces(write.tx, actor, appId, count)
    write.last(async function* () {
      yield* inserts
    })
    return made
  }
  return tracked(id, async () => {
    const stored = await ctx.tx(actor, store, { rows: count })
    // An earlier request with this Idempotency-Key has stored another one, which is complete by now.
    if (stored.id !== id) return withSkipped(stored.result, new Map(stored.skipped))
    const skipped = await complete(ctx, row).catch(failLater)
    if (!skipped) throw problem('not_found')
    return withSkipped(result, skipped)
  })
}

/** What an Idempotency-Key keeps of an import. */
interface StoredImport {
  id: string
  /** As if all rows became licenses. */
  result: ImportResult
  /** The keys that were taken by then, with the reason. */
  skipped?: readonly (readonly [string, string])[]
}

/** Completes what an earlier request with the same Idempotency-Key has stored. */
async function settleImport(ctx: Ready, scope: OwnerScope, answerId: string): Promise<void> {
  const row = await repo.findImportByAnswer(ctx.db, scope, answerId)
  if (!row) return
  const running = completing.get(row.id) ?? tracked(row.id, () => complete(ctx, row))
  await running.catch(failLater)
}

function failLater(error: unknown): never {
  const failure = storageFailureOf(error)
  throw failure
    ? problem(failure, {
        message:
          'The import is stored, and the server completes it as soon as it can write again. Do not import these rows again.',
      })
    : error
}

/** Completes imports that the end of a process or a full disk has interrupted. */
export async function completeImports(ctx: Ready): Promise<void> {
  // On PostgreSQL an import is one transaction, so each node would query for nothing every two seconds.
  if (!holdsUpOthers(ctx.db, Number.POSITIVE_INFINITY)) return
  const failures: unknown[] = []
  for (const row of await repo.listImports(ctx.db)) {
    if (completing.has(row.id)) continue
    await tracked(row.id, () => complete(ctx, row)).catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

/**
 * Each slice deletes its chunks in the transaction that adds their licenses, so that none is added twice. Returns
 * undefined if the import no longer exists.
 */
async function complete(ctx: Ready, row: ImportRow): Promise<Skipped | undefined> {
  const { id, app_id: appId, answer_id: answerId } = row
  const actor = actorOfStored(row)
  const columns: string[] = JSON.parse(row.column_names)
  let skipped: Skipped | undefined
  await inSlices(ctx, actor, async (write, size) => {
    const { tx } = write
    const wanted = Math.ceil(size / chunkSize)
    const chunks = await repo.takeChunks(tx, id, wanted)
    const count = chunks.reduce((sum, { n }) => sum + n, 0)
    if (count > 0) {
      await holdPlaces(tx, actor, appId, -count)
      const json = `[${chunks.map(({ content }) => content.slice(1, -1)).join()}]`
      const issued = await insertStoredLicenses(tx, columns, json)
      if (issued.size < count) {
        const at = columns.indexOf('key')
        const keys = (JSON.parse(json) as string[][]).map((row) => row[at] ?? '')
        const taken = keys.filter((key) => !issued.has(key))
        await repo.addSkips(tx, actor, id, await explainSkips(tx, appId, taken))
      }
    }
    if (chunks.length === wanted) return { found: size }
    const skips = await repo.listSkips(tx, id)
    const ended = await repo.deleteImport(tx, actor, id)
    if (ended) {
      skipped = new Map(skips.map(({ key, message }) => [key, message]))
      write.record('licenses.imported', appId, { count: ended.count }, appId)
      if (answerId !== null) await keepSkipped(ctx, write, answerId, skipped)
    } else if (answerId !== null && !(await lockApp(tx, actor, appId))) {
      // The app was deleted. If it exists, another node has completed the import, and the stored answer is still true.
      await forgetAnswer(write, answerId)
    }
    return { found: 0 }
  })
  return skipped
}

async function keepSkipped(
  ctx: Ready,
  write: WriteTransaction,
  answerId: string,
  skipped: Skipped,
): Promise<void> {
  if (skipped.size === 0) return
  await amendResult<StoredImport>(ctx, write, answerId, (stored) => ({ ...stored, skipped: [...skipped] }))
}

/** Why keys of new licenses were left out. */
export async function explainSkips(tx: Tx, appId: string, keys: readonly string[]): Promise<Skipped> {
  if (keys.length === 0) return new Map()
  const typedKeys = keys.map((key) => ({ key, ...toTypedKey(key) }))
  const typed = typedKeys.map((key) => key.typed)
  const taken = new Set(await takenKeys(tx, appId, typed))
  return new Map(typedKeys.map(({ key, exact }) => [key, takenMessage(taken.has(exact))]))
}

async function* insertsOf(
  db: Db,
  id: string,
  columns: readonly (keyof NewLicense)[],
  licenses: readonly NewLicense[],
): AsyncGenerator<CompiledQuery> {
  const chunks = []
  for (let at = 0; at < licenses.length; at += chunkSize) {
    const rows = licenses.slice(at, at + chunkSize).map((license) => columns.map((column) => license[column]))
    chunks.push({ import_id: id, part: chunks.length, n: rows.length, content: toJson(rows) })
    if (chunks.length % insertedAtOnce === 0) {
      await setImmediate()
      yield repo.insertOfChunks(db, chunks.slice(-insertedAtOnce))
    }
  }
  const rest = chunks.length % insertedAtOnce
  if (rest > 0) yield repo.insertOfChunks(db, chunks.slice(-rest))
}

import { setImmediate } from 'node:timers/promises'
import type { CompiledQuery } from 'kysely'
import { toOwnerActor, type VendorActor } from '../../core/actor.ts'
import type { Ctx } from '../../core/ctx.ts'
import { newId } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { Write } from '../../core/record.ts'
import { inSlices } from '../../core/slices.ts'
import { storageFailureOf } from '../../db/failure.ts'
import { toJson } from '../../db/insert-rows.ts'
import { type Db, forRows, needsLocks, type Tx } from '../../db/open.ts'
import { toTypedKey } from '../../db/typed-keys.ts'
import { holdPlaces } from '../apps/apps.access.ts'
import { takenKeys } from '../licenses/licenses.access.ts'
import { type draftLicenses, issueStored } from '../licenses/licenses.issue.ts'
import * as repo from './import.repo.ts'
import { takenMessage } from './import.rules.ts'

type NewLicense = Awaited<ReturnType<typeof draftLicenses>>[number]
type Ready = Pick<Ctx, 'db' | 'tx'>

/** Why rows were skipped, by their keys. */
type Skipped = Map<string, string>

const chunkSize = 20
const insertedAtOnce = 50

/** Imports that a call of this process completes. */
const completing = new Set<string>()

/**
 * Whether an import is stored first and then becomes licenses in slices. On SQLite all other writes would wait for one
 * transaction of many rows.
 */
export const isSliced = (db: Db, rows: number): boolean => !needsLocks(db) && forRows(rows).isLong === true

/**
 * Stores new licenses in one step, after which they cannot be lost, and then adds them to the app in slices. `reserve`
 * checks the app and its limit in the transaction that stores them.
 */
export async function importInSlices(
  ctx: Ready,
  actor: VendorActor,
  given: { appId: string; licenses: readonly NewLicense[]; now: number },
  reserve: (tx: Tx) => Promise<void>,
): Promise<Skipped> {
  const { appId, licenses, now } = given
  const [id, count] = [newId('imp'), licenses.length]
  const columns = Object.keys(licenses[0] ?? {}) as (keyof NewLicense)[]
  const row = {
    id,
    owner_id: actor.ownerId,
    app_id: appId,
    session_id: actor.sessionId,
    address: actor.address,
    column_names: JSON.stringify(columns),
    count,
    created_at: now,
  }
  const inserts = [repo.insertOfImport(ctx.db, row)]
  for await (const insert of insertsOf(ctx.db, id, columns, licenses)) inserts.push(insert)
  const store = async (write: Write): Promise<void> => {
    await reserve(write.tx)
    await holdPlaces(write.tx, actor, appId, count)
    write.last(async function* () {
      yield* inserts
    })
  }
  completing.add(id)
  try {
    await ctx.tx(actor, store, forRows(count))
    const skipped = await complete(ctx, actor, { id, appId, columns }).catch((error: unknown) => {
      const failure = storageFailureOf(error)
      throw failure ? problem(failure, { message: laterMessage }) : error
    })
    if (!skipped) throw problem('not_found')
    return skipped
  } finally {
    completing.delete(id)
  }
}

const laterMessage =
  'The import is stored, and the server completes it once it can write again. Do not repeat it.'

/** Completes imports that the end of a process or a full disk has interrupted. */
export async function completeImports(ctx: Ready): Promise<void> {
  const failures: unknown[] = []
  for (const { id, app_id: appId, ...row } of await repo.listImports(ctx.db)) {
    if (completing.has(id)) continue
    const actor = toOwnerActor({
      ownerId: row.owner_id,
      sessionId: row.session_id,
      address: row.address,
    })
    completing.add(id)
    await complete(ctx, actor, { id, appId, columns: JSON.parse(row.column_names) })
      .catch((error: unknown) => failures.push(error))
      .finally(() => completing.delete(id))
  }
  if (failures.length > 0) throw failures[0]
}

/**
 * Each slice deletes its chunks in the transaction that adds their licenses, so that none is added twice. Returns
 * undefined if the import no longer exists.
 */
async function complete(
  ctx: Ready,
  actor: VendorActor,
  { id, appId, columns }: { id: string; appId: string; columns: readonly string[] },
): Promise<Skipped | undefined> {
  const skipped: Skipped = new Map()
  let exists = false
  await inSlices(ctx, actor, async (write, size) => {
    const { tx } = write
    const wanted = Math.ceil(size / chunkSize)
    const chunks = await repo.takeChunks(tx, id, wanted)
    const count = chunks.reduce((sum, { n }) => sum + n, 0)
    if (count > 0) {
      await holdPlaces(tx, actor, appId, -count)
      const json = `[${chunks.map(({ content }) => content.slice(1, -1)).join()}]`
      const issued = await issueStored(tx, columns, json)
      if (issued.size < count) {
        const at = columns.indexOf('key')
        const keys = (JSON.parse(json) as string[][]).map((row) => row[at] ?? '')
        const taken = keys.filter((key) => !issued.has(key))
        for (const [key, message] of await explain(tx, appId, taken)) skipped.set(key, message)
        await repo.countSkipped(tx, actor, id, taken.length)
      }
    }
    if (chunks.length === wanted) return { found: size }
    const ended = await repo.deleteImport(tx, actor, id)
    if (ended) write.record('licenses.imported', appId, { count: ended.count })
    exists = ended !== undefined
    return { found: 0 }
  })
  return exists ? skipped : undefined
}

async function explain(tx: Tx, appId: string, keys: readonly string[]): Promise<[string, string][]> {
  const typed = keys.map((key) => ({ key, ...toTypedKey(key) }))
  const taken = new Set(
    await takenKeys(
      tx,
      appId,
      typed.map((one) => one.typed),
    ),
  )
  return typed.map(({ key, exact }) => [key, takenMessage(taken.has(exact))])
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

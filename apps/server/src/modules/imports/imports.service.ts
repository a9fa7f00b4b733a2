import type { Readable } from 'node:stream'
import {
  type BodyOf,
  type endpoints,
  type Import,
  type ImportPreset,
  type ImportQuestion,
  type ImportReportRow,
  limits,
  type QueryOf,
} from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { day, hour, toIso, toIsoOrNull } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { called } from '../../db/tables/imports.ts'
import type { DataImportFileRow, DataImportReportRow, DataImportRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getApp, lockApp } from '../apps/apps.access.ts'
import { getImportBytes } from '../owners/owners.service.ts'
import { acceptsFiles, storeFile, storeSmallFiles } from './imports.files.ts'
import { hasOpen } from './imports.reading.ts'
import * as repo from './imports.repo.ts'
import type { Question } from './rows.ts'

type Calls = typeof endpoints.imports

export async function createImport(
  ctx: Ctx,
  actor: VendorActor,
  body: BodyOf<Calls['create']>,
): Promise<Import> {
  const app = await getApp(ctx.db, actor, body.app)
  const now = ctx.clock.now()
  const bytesMax = await getImportBytes(ctx, actor)
  const id = await ctx.tx(actor, async (write) => {
    const { tx } = write
    if (!(await lockApp(tx, actor, app.id))) throw problem('not_found')
    if ((await repo.countImports(tx, actor.ownerId)) >= limits.importsMax) throw problem('imports_full')
    const { files = [], preset, mapping = {} } = body
    const row = { id: newId('imp'), owner_id: actor.ownerId, app_id: app.id }
    await repo.insertImport(tx, {
      ...row,
      ...toActorColumns(actor),
      preset,
      mapping: JSON.stringify(mapping),
      state: 'waiting',
      files_until: files.length === 0 ? null : now + limits.importFileHours * hour,
      kept_until: now + limits.importReportDays * day,
      created_at: now,
    })
    await storeSmallFiles(write, ctx.seal, { ...row, import_id: row.id, bytesMax }, files)
    write.record('import.created', row.id, { preset }, app.id)
    return row.id
  })
  return getImport(ctx, actor, id)
}

export const toActorColumns = (actor: VendorActor) => ({
  actor_kind: actor.kind,
  actor_id: actor.actorId,
  session_id: actor.sessionId ?? '',
  address: actor.address,
})

async function getRow(ctx: Ctx, actor: VendorActor, id: string): Promise<DataImportRow> {
  const row = await repo.findImport(ctx.db, actor, id)
  if (!row || row.preset === called) throw problem('not_found')
  return row
}

async function getImport(ctx: Ctx, actor: VendorActor, id: string): Promise<Import> {
  const [one] = await toImports(ctx, actor, [await getRow(ctx, actor, id)])
  if (!one) throw problem('not_found')
  return one
}

export async function putFile(
  ctx: Ctx,
  actor: VendorActor,
  { id, name }: { id: string; name: string },
  content: Readable,
): Promise<Import> {
  const row = await getRow(ctx, actor, id)
  if (!acceptsFiles(row)) throw problem('import_not_waiting')
  await storeFile(ctx, actor, row, { name, content })
  return getImport(ctx, actor, id)
}

export async function runImport(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  { dryRun, answers }: BodyOf<Calls['run']>,
): Promise<Import> {
  await ctx.tx(actor, async (write) => {
    const row = await lockRow(write, actor, id)
    if (!acceptsFiles(row)) throw problem('import_not_waiting')
    if ((await repo.listFiles(write.tx, [id])).length === 0) throw problem('import_without_files')
    const all = { ...(JSON.parse(row.answers) as Record<string, string>), ...answers }
    if (!dryRun && hasOpen(JSON.parse(row.questions) as Question[], all)) throw problem('import_unanswered')
    await repo.updateImport(write.tx, actor, id, {
      ...toActorColumns(actor),
      answers: JSON.stringify(all),
      state: dryRun ? 'checking' : 'running',
      dry_run: dryRun ? 1 : 0,
      is_read: 0,
      problem: null,
      finished_at: null,
      claim: null,
      claimed_until: write.now,
    })
    write.record('import.started', id, { dryRun }, row.app_id)
  })
  return getImport(ctx, actor, id)
}

export async function undoImport(ctx: Ctx, actor: VendorActor, id: string): Promise<Import> {
  await ctx.tx(actor, async (write) => {
    const row = await lockRow(write, actor, id)
    const isPartlyDone = row.state === 'failed' && row.dry_run === 0 && row.is_read === 1
    if (row.state !== 'done' && !isPartlyDone) throw problem('import_not_done')
    await repo.updateImport(write.tx, actor, id, {
      ...toActorColumns(actor),
      state: 'undoing',
      done: 0,
      kept: 0,
      problem: null,
      finished_at: null,
      claim: null,
      claimed_until: write.now,
    })
    write.record('import.undo_started', id, {}, row.app_id)
  })
  return getImport(ctx, actor, id)
}

async function lockRow({ tx }: WriteTransaction, actor: VendorActor, id: string): Promise<DataImportRow> {
  const row = await repo.lockImport(tx, actor, id)
  if (!row || row.preset === called) throw problem('not_found')
  return row
}

export async function listImports(ctx: Ctx, actor: VendorActor, app: string | undefined): Promise<Import[]> {
  const appId = app === undefined ? undefined : (await getApp(ctx.db, actor, app)).id
  return toImports(ctx, actor, await repo.listImports(ctx.db, actor, appId))
}

export async function showImport(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  { outcome, page, limit }: QueryOf<Calls['get']>,
) {
  const row = await getRow(ctx, actor, id)
  const [one] = await toImports(ctx, actor, [row])
  if (!one) throw problem('not_found')
  const rows = await repo.listReport(ctx.db, id, { outcome, page, limit })
  const total = countOf(row, outcome)
  const pagination = { page, limit, total, pages: Math.ceil(total / limit) }
  return { import: one, rows: rows.map(toReportRow), pagination }
}

/** An undo turns rows that were created into undone or kept ones. */
function countOf(row: DataImportRow, outcome: QueryOf<Calls['get']>['outcome']): number {
  const { created, skipped, failed, kept } = row
  const isUndo = row.state === 'undoing' || row.state === 'undone'
  const undone = isUndo ? created - kept : 0
  const counts = { created: isUndo ? 0 : created, skipped, failed, kept, undone }
  return outcome === undefined ? created + skipped + failed : counts[outcome]
}

const slice = 1000

/** The report of all rows, in slices; of an import that runs, the rows that are finished. */
export async function reportOf(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
): Promise<AsyncGenerator<ImportReportRow[]>> {
  const { id: known } = await getRow(ctx, actor, id)
  return (async function* () {
    for (let after = 0; ; ) {
      const rows = await repo.listRowsAfter(ctx.db, known, after, slice)
      yield rows.filter((row) => row.outcome !== null).map(toReportRow)
      const last = rows.at(-1)
      if (!last || rows.length < slice) return
      after = last.n
    }
  })()
}

const toReportRow = (row: DataImportReportRow): ImportReportRow => ({
  row: row.n,
  file: row.file,
  line: row.line,
  kind: row.kind,
  name: row.name,
  outcome: row.outcome ?? 'created',
  message: row.message,
  licenseId: row.license_id,
  clientId: row.client_id,
})

async function toImports(ctx: Ctx, actor: VendorActor, rows: readonly DataImportRow[]): Promise<Import[]> {
  const ids = rows.map(({ id }) => id)
  const files = Map.groupBy(await repo.listFiles(ctx.db, ids), (file) => file.import_id)
  const apps = await repo.listApps(ctx.db, actor, [...new Set(rows.map((row) => row.app_id))])
  const byId = new Map(apps.map((app) => [app._id, app]))
  return rows.flatMap((row) => {
    const app = byId.get(row.app_id)
    return app ? [toImport(row, app, files.get(row.id) ?? [])] : []
  })
}

function toImport(row: DataImportRow, app: Import['app'], files: readonly DataImportFileRow[]): Import {
  const answers: Record<string, string> = JSON.parse(row.answers)
  const questions: Question[] = JSON.parse(row.questions)
  const { created, licenses, clients, skipped, failed, kept, done, preset, state, problem: why } = row
  return {
    _id: row.id,
    app,
    preset: preset as ImportPreset,
    mapping: JSON.parse(row.mapping),
    state,
    dryRun: row.dry_run === 1,
    files: files.map(({ name, bytes }) => ({ name, bytes: Number(bytes) })),
    rows: row.row_count,
    ...{ done, created, licenses, clients, skipped, failed, kept },
    questions: questions.map((one): ImportQuestion => ({ ...one, answer: answers[one.name] ?? null })),
    problem: why,
    createdAt: toIso(row.created_at),
    finishedAt: toIsoOrNull(row.finished_at),
  }
}

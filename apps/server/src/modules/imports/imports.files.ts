import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { limits } from '@keyward/contract'
import type { Actor, VendorActor } from '../../core/actor.ts'
import { hour } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { DataImportRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { LostKey, LostKeyReport } from '../description.ts'
import { getImportBytes } from '../owners/owners.service.ts'
import * as repo from './imports.repo.ts'

// Files hold password hashes and secrets of the other system, so their parts are sealed.

const partBytes = 131_072

/** What stays free of the embedded database's disk while a file arrives. */
const freeBytesMin = 536_870_912

interface NewFile {
  name: string
  content: Readable | readonly Buffer[]
}

export const filePartContext = (fileId: string, part: number): string => `import_file:${fileId}:${part}`

export async function openPart(ctx: Ctx, fileId: string, part: number): Promise<string | undefined> {
  const row = await repo.findPart(ctx.db, fileId, part)
  return row && ctx.seal.open(row.sealed, filePartContext(fileId, part))
}

/** Stores the bytes of a file as they arrive; the import has the file once all of them are there. */
export async function storeFile(
  ctx: Ctx,
  actor: VendorActor,
  row: DataImportRow,
  file: NewFile,
): Promise<void> {
  if (storing.has(actor.ownerId)) throw problem('too_many_at_once', { retryAfterSeconds: 5 })
  storing.add(actor.ownerId)
  try {
    await storeParts(ctx, actor, row, file)
  } finally {
    storing.delete(actor.ownerId)
  }
}

/** Vendors whose file arrives: one at a time, so that what has arrived of several cannot exceed what they may store. */
const storing = new Set<string>()

async function storeParts(
  ctx: Ctx,
  actor: VendorActor,
  row: DataImportRow,
  { name, content }: NewFile,
): Promise<void> {
  const bytesMax = await getImportBytes(ctx, actor)
  const replaced = (await repo.listFiles(ctx.db, [row.id])).find((file) => file.name === name)
  const stored = (await repo.countBytes(ctx.db, actor.ownerId)) - Number(replaced?.bytes ?? 0)
  if (!(await ctx.database.room.leaves(freeBytesMin))) throw problem('storage_full')
  const most = Math.min(limits.importFileBytesMax, bytesMax - stored)
  const id = newId('imf')
  const decoder = new StringDecoder('utf8')
  let [bytes, part]: [number, number] = [0, 0]
  let waiting: Buffer[] = []
  let waitingBytes = 0
  const store = async (isLast: boolean): Promise<void> => {
    const joined = Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    const text = decoder.write(joined) + (isLast ? decoder.end() : '')
    if (text === '') return
    const sealed = ctx.seal.seal(text, filePartContext(id, part))
    const stored = { file_id: id, part, import_id: row.id, app_id: row.app_id, sealed }
    part += 1
    const gone = { onGone: () => problem('not_found'), isStep: false }
    await ctx.tx(actor, ({ tx }) => repo.insertPart(tx, stored), gone)
  }
  let unused = id
  try {
    for await (const chunk of content) {
      const buffer = Buffer.from(chunk as Buffer)
      bytes += buffer.length
      if (bytes > limits.importFileBytesMax) throw problem('payload_too_large')
      if (bytes > most) throw problem('import_files_full')
      waiting.push(buffer)
      waitingBytes += buffer.length
      if (waitingBytes >= partBytes) await store(false)
    }
    await store(true)
    const { kept, replaced } = await ctx.tx(actor, (write) =>
      keepFile(write, actor, row, { id, name, bytes, parts: part, bytesMax }),
    )
    // A repeat with the same Idempotency-Key keeps the first one.
    if (kept === id) unused = replaced
  } finally {
    await deleteParts(ctx, actor, unused)
  }
}

/** Adds the file to the import, in place of one with that name. */
async function keepFile(
  write: WriteTransaction,
  actor: VendorActor,
  { id: importId }: DataImportRow,
  {
    id,
    name,
    bytes,
    parts,
    bytesMax,
  }: { id: string; name: string; bytes: number; parts: number; bytesMax: number },
): Promise<{ kept: string; replaced: string }> {
  const { tx, now } = write
  const row = await repo.lockImport(tx, actor, importId)
  if (!row) throw problem('not_found')
  if (!acceptsFiles(row)) throw problem('import_not_waiting')
  // Files of the import have expired meanwhile, and with them what had arrived of this one.
  if ((await repo.countParts(tx, id)) < parts) throw problem('unavailable')
  const file = { id, import_id: importId, app_id: row.app_id, name, bytes, created_at: now }
  const replaced = await repo.putFile(tx, file)
  const files = await repo.listFiles(tx, [importId])
  const total = await repo.countBytes(tx, actor.ownerId)
  if (files.length > limits.importFilesMax || total > bytesMax) throw problem('import_files_full')
  const changed = {
    state: 'waiting',
    files_until: now + limits.importFileHours * hour,
    questions: '[]',
  } as const
  await repo.updateImport(tx, actor, importId, changed)
  write.record('import.file_stored', importId, { name, bytes }, row.app_id)
  return { kept: id, replaced: replaced ?? '' }
}

/** Stores small files together with their new import. */
export async function storeSmallFiles(
  { tx, now }: WriteTransaction,
  seal: Ctx['seal'],
  of: Pick<DataImportRow, 'app_id' | 'owner_id'> & { import_id: string; bytesMax: number },
  files: readonly { name: string; content: string }[],
): Promise<void> {
  const { import_id, app_id } = of
  for (const { name, content } of files) {
    const id = newId('imf')
    const bytes = Buffer.byteLength(content)
    await repo.putFile(tx, { id, import_id, app_id, name, bytes, created_at: now })
    const sealed = seal.seal(content, filePartContext(id, 0))
    await repo.insertPart(tx, { file_id: id, part: 0, import_id, app_id, sealed })
  }
  if ((await repo.countBytes(tx, of.owner_id)) > of.bytesMax) throw problem('import_files_full')
}

/** Whether an import may get files and run: it has changed nothing so far. */
export const acceptsFiles = ({ state, dry_run: dryRun, is_read: isRead }: DataImportRow): boolean =>
  state === 'waiting' || state === 'checked' || (state === 'failed' && (dryRun === 1 || isRead === 0))

export const partsAtOnce = 8

async function deleteParts(ctx: Pick<Ctx, 'tx'>, actor: Actor, fileId: string): Promise<void> {
  const deleteSome = () =>
    ctx.tx(actor, ({ tx }) => repo.deleteParts(tx, fileId, partsAtOnce), { isStep: false })
  while ((await deleteSome()) === partsAtOnce);
}

/** Ends the imports whose files a lost secret key sealed. */
export async function loseKey({ tx, now }: LostKey): Promise<Pick<LostKeyReport, 'imports'>> {
  await tx.deleteFrom('data_import_parts').execute()
  await tx.deleteFrom('data_import_files').execute()
  const failed = await tx
    .updateTable('data_imports')
    .set({ state: 'failed', claim: null, claimed_until: null, files_until: null, finished_at: now })
    .set({ problem: 'The secret key of the server was lost, and the files with it: begin again.' })
    .where((eb) =>
      eb.or([
        eb('state', 'in', ['waiting', 'checking', 'checked']),
        eb.and([eb('state', '=', 'running'), eb('is_read', '=', 0)]),
      ]),
    )
    .returning('id')
    .execute()
  return { imports: failed.map(({ id }) => id) }
}

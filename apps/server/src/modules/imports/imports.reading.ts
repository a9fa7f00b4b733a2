import type { ImportPreset } from '@keyward/contract'
import { minute, second } from '../../core/clock.ts'
import { inSlices } from '../../db/index.ts'
import type { DataImportRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { actorOfStored, ClaimLost, claimMs, lockClaimed } from './imports.claim.ts'
import { openPart } from './imports.files.ts'
import * as repo from './imports.repo.ts'
import type { LinkedRow } from './linked-rows.ts'
import { Reading } from './reading.ts'
import { type Question, UnreadableFiles } from './rows.ts'

const rowsAtOnce = 1000

/** Reads the files of an import into rows; from the start again if it was interrupted. False if questions are open. */
export async function readRows(ctx: Ctx, row: DataImportRow, signal: AbortSignal): Promise<boolean> {
  const actor = actorOfStored(row)
  await inSlices(ctx, actor, async ({ tx, now }, size) => {
    await lockClaimed(tx, actor, row)
    await repo.updateImport(tx, actor, row.id, { ...nothingDone, claimed_until: now + claimMs })
    return { found: await repo.deleteRows(tx, row.id, size) }
  })
  const files = await repo.listFiles(ctx.db, [row.id])
  const reading = new Reading({
    preset: row.preset as ImportPreset,
    mapping: JSON.parse(row.mapping),
    answers: JSON.parse(row.answers),
    files: files.map(({ name }) => name),
    rowsAtOnce,
    now: ctx.clock.now(),
  })
  const endWatch = watch(ctx, row, reading, signal)
  try {
    for (const [at, file] of files.entries()) {
      for (let part = 0; ; part += 1) {
        const text = await openPart(ctx, file.id, part)
        if (text === undefined) break
        reading.add(at, text)
      }
    }
    const { count, questions } = await reading.read()
    const isOpen = row.dry_run === 0 && hasOpen(questions, JSON.parse(row.answers))
    await ctx.tx(actor, async ({ tx, now }) => {
      await lockClaimed(tx, actor, row)
      const found = { row_count: count, questions: JSON.stringify(questions) }
      await repo.updateImport(tx, actor, row.id, { ...found, claimed_until: now + claimMs })
    })
    if (isOpen) return false
    await storeRows(ctx, row, reading)
    return true
  } finally {
    endWatch()
    await reading.end()
  }
}

const renewMs = 15 * second
const readingMost = 15 * minute

/** Keeps the claim while the thread reads, and stops it when the server stops, the claim is lost or it takes too long. */
function watch(ctx: Ctx, row: DataImportRow, reading: Reading, signal: AbortSignal): () => void {
  const actor = actorOfStored(row)
  const renew = () =>
    ctx.tx(actor, async ({ tx, now }) => {
      await lockClaimed(tx, actor, row)
      await repo.updateImport(tx, actor, row.id, { claimed_until: now + claimMs })
    })
  const renewal = setInterval(() => {
    // Without storage the claim ends, which the next transaction finds out.
    renew().catch((error) => error instanceof ClaimLost && reading.stop(error))
  }, renewMs)
  const tooLong = new UnreadableFiles('The files take too long to read. Please split them.')
  const deadline = setTimeout(() => reading.stop(tooLong), readingMost)
  const abort = () => reading.stop(new ClaimLost('the server stops'))
  signal.addEventListener('abort', abort)
  return () => {
    clearInterval(renewal)
    clearTimeout(deadline)
    signal.removeEventListener('abort', abort)
  }
}

const counts = { row_count: 0, done: 0, created: 0, licenses: 0, clients: 0, skipped: 0, failed: 0, kept: 0 }
const nothingDone = { ...counts, is_read: 0 } as const

export const hasOpen = (questions: readonly Question[], answers: Record<string, string>): boolean =>
  questions.some(({ name, choices }) => !choices.some(({ value }) => value === answers[name]))

async function storeRows(ctx: Ctx, row: DataImportRow, reading: Reading): Promise<void> {
  const actor = actorOfStored(row)
  const { id, app_id } = row
  let [rows, first, isEnd]: [LinkedRow[], number, boolean] = [[], 1, false]
  await inSlices(ctx, actor, async ({ tx, now }, size) => {
    // A slice that is tried again finds the rows of the first try.
    const { done } = await lockClaimed(tx, actor, row)
    rows = rows.slice(done + 1 - first)
    first = done + 1
    while (rows.length < size && !isEnd) {
      const next = await reading.next()
      rows = [...rows, ...next]
      isEnd = next.length < reading.rowsAtOnce
    }
    const some = rows.slice(0, size)
    const stored = some.map((one, at) => {
      return { import_id: id, app_id, n: first + at, ...one, license_id: null, client_id: null }
    })
    await repo.insertRows(tx, stored)
    const isLast = some.length < size
    await repo.updateImport(tx, actor, id, {
      done: isLast ? 0 : done + some.length,
      is_read: isLast ? 1 : 0,
      claimed_until: now + claimMs,
    })
    return { found: some.length }
  })
}

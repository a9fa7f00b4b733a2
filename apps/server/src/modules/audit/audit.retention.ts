import { system } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import { deleteRecordsBefore } from '../../db/deletions.ts'
import { inSlices } from '../../db/index.ts'
import { linkObjects } from '../../db/record-objects.ts'
import { indexRecords } from '../../db/record-search.ts'
import type { Ctx } from '../../service/ctx.ts'

/** Deletes records that are older than the operator keeps, and makes new ones searchable by text and object. */
export async function tidyAudit(ctx: Pick<Ctx, 'clock' | 'config' | 'db' | 'tx'>): Promise<void> {
  const { auditDays } = ctx.config
  if (auditDays !== undefined) {
    const before = ctx.clock.now() - auditDays * day
    await inSlices(ctx, system, async ({ tx }, size) => ({
      found: await deleteRecordsBefore(tx, before, size),
    }))
  }
  await inSlices(ctx, system, async ({ tx }, size) => ({ found: await indexRecords(tx, size) }))
  await inSlices(ctx, system, async ({ tx }, size) => ({ found: await linkObjects(tx, size) }))
}

import { system } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import { deleteRecordsBefore } from '../../db/deletions.ts'
import { forgetInRecords } from '../../db/erasures.ts'
import { inSlices } from '../../db/index.ts'
import { linkObjects } from '../../db/record-rows.ts'
import { indexRecords } from '../../db/record-search.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Erasure } from '../description.ts'

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

/** Empties what records say of the licenses and end users of a person who is erased. */
export const forgetRecords: Required<Erasure>['written'] = (ctx, actor, person) => {
  const targets = [...person.licenses, ...person.endUsers.map(({ id }) => id)]
  return inSlices(ctx, actor, async ({ tx }, size, at = 0) => {
    const target = targets[at]
    if (target === undefined) return { found: 0, mark: at }
    await forgetInRecords(tx, actor.ownerId, target, person.texts)
    return { found: size, changed: 1, mark: at + 1 }
  })
}

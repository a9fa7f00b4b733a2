import { limits, thinnedActions } from '@keyward/contract'
import { system } from '../../core/actor.ts'
import { day, dayNumber } from '../../core/clock.ts'
import { deleteRecords } from '../../db/deletions.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as repo from './record-thinning.repo.ts'

/** One run of housekeeping reads so many pages, so that a long history delays neither other work nor a shutdown. */
const pagesAtOnce = 100

/**
 * Keeps only the last record when one actor changed one object repeatedly on one day. Reads each record once, after 30
 * days; the next run continues where this one ends.
 */
export async function thinRecords(
  ctx: Pick<Ctx, 'clock' | 'db' | 'tx'>,
  pages: number = pagesAtOnce,
): Promise<void> {
  const until = (dayNumber(ctx.clock.now()) - limits.recordThinDays) * day
  const earlier = (await repo.findPass(ctx.db)) ?? { until: 0, next: null }
  let pass: repo.Pass = earlier.next ?? { ...repo.beginOf(''), from: earlier.until, until }
  if (pass.from >= pass.until) return
  let seen = new Set<string>()
  let isDone = false
  for (let page = 0; page < pages && !isDone; page += 1) {
    const rows = await repo.listBefore(ctx.db, pass)
    const surplus = rows.filter((row) => isRepeated(row, seen)).map(({ id }) => id)
    if (surplus.length > 0) await ctx.tx(system, ({ tx }) => deleteRecords(tx, surplus))
    const last = rows.at(-1)
    if (last && rows.length === repo.pageRows) {
      pass = { ...pass, at: last.created_at, id: last.id }
      continue
    }
    const owner = await repo.findNextOwner(ctx.db, pass)
    if (owner === undefined) isDone = true
    else pass = { ...pass, ...repo.beginOf(owner) }
    seen = new Set()
  }
  const stored = isDone ? { until: pass.until, next: null } : { until: pass.from, next: pass }
  await ctx.tx(system, ({ tx }) => repo.storePass(tx, stored))
}

/** Whether a later record of that day says the same; the newest ones come first. */
function isRepeated(row: repo.RecordRow, seen: Set<string>): boolean {
  if (!(thinnedActions as ReadonlySet<string>).has(row.action)) return false
  const { action, target_id, actor_id, address } = row
  const key = JSON.stringify([dayNumber(row.created_at), action, target_id, actor_id, address])
  if (seen.has(key)) return true
  seen.add(key)
  return false
}

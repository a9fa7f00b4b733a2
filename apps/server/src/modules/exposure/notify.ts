import { type BodyOf, type DataOf, type endpoints, limits } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import { inSlices } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { tellSecurity } from '../customer-mails/customer-mails.tell.ts'
import { lockOwner } from '../owners/owners.service.ts'
import { outBefore } from '../releases/releases.rules.ts'
import { takeNotice, tellCustomers } from '../releases/told.access.ts'
import * as repo from './exposure.repo.ts'
import { type Fix, getFix } from './exposure.service.ts'

type Notify = (typeof endpoints)['exposure']['notify']

/** Mails each customer who has an affected device, once for each release. */
export async function notifyCustomers(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  { dryRun = false }: BodyOf<Notify>,
): Promise<DataOf<Notify>> {
  const fix = await getFix(ctx, actor, id)
  const { row, affected } = fix
  if (row.withdrawn_at !== null || row.released_at >= outBefore(ctx.clock.now()))
    throw problem('release_not_out')
  const { lists } = ctx.database
  const pending = await repo.listToNotify(lists, affected, id)
  const counts = {
    told: (await repo.countCustomers(lists, affected)) - pending.length,
    unreachable: await repo.countUnreachable(lists, affected),
  }
  if (dryRun) return { customers: pending.length, ...counts }
  if (ctx.config.smtpUrl === undefined) {
    throw problem('mail_off', { message: 'This server does not send mail. Tell your customers another way.' })
  }
  const begun = await begin(ctx, actor, fix, { ...counts, isNeeded: pending.length > 0 })
  const customers = await inSlices(
    ctx,
    actor,
    async (write, size, before = Number.POSITIVE_INFINITY) => {
      const some = pending.filter(({ seq }) => seq < before).slice(0, size)
      const told = await tellCustomers(write.tx, id, some, write.now)
      await tellSecurity(write, toNews(fix), told)
      const mark = some.at(-1)?.seq
      return { found: some.length, changed: told.length, ...(mark !== undefined && { mark }) }
    },
    (write, changed) =>
      write.record(
        'release.notified',
        id,
        { appId: row.app_id, version: row.version, count: changed },
        row.app_id,
      ),
  )
  return { customers, ...begun }
}

/**
 * Uses one of the releases of a week up, unless it is one already or nobody is to be mailed. A repeated call gets what the
 * first one counted.
 */
const begin = (
  ctx: Ctx,
  actor: VendorActor,
  { row }: Fix,
  { isNeeded, ...counts }: { isNeeded: boolean; told: number; unreachable: number },
) =>
  ctx.tx(actor, async ({ tx, now }) => {
    await lockOwner(tx, actor)
    const notice = { owner_id: actor.ownerId, release_id: row.id, expires_at: now + 7 * day }
    if (isNeeded && !(await takeNotice(tx, notice, now, limits.releaseNoticesPerWeek)))
      throw problem('notices_used_up')
    return counts
  })

const toNews = ({ row, security }: Fix) => ({
  ...{ id: row.id, owner_id: row.owner_id, app_id: row.app_id, version: row.version },
  ...{ summary: security.summary, link: security.advisory ?? row.link },
})

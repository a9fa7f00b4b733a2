import { setImmediate as turn } from 'node:timers/promises'
import { system } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { inSlices } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { type Due, findEnds, findEndsOfUpdates } from './customer-mails.due.ts'
import * as repo from './customer-mails.repo.ts'
import { pauseAfter, type Settings, sentUntil } from './customer-mails.rules.ts'

const leaseMs = 10 * minute

export interface FindOptions {
  onError: (error: unknown) => void
  /** How long an app is not looked at again. */
  everyMs: number
  signal: AbortSignal
}

/** Looks at each app that is due, one process at a time, and notes the mails that its customers are to get. */
export async function findMails(ctx: Ctx, { onError, everyMs, signal }: FindOptions): Promise<void> {
  while (!signal.aborted && (await repo.hasLook(ctx.db, ctx.clock.now()))) {
    const now = ctx.clock.now()
    const claimed = now + leaseMs
    const look = await ctx.tx(system, ({ tx }) => repo.claimLook(tx, { now, until: claimed }))
    if (!look) continue
    const begun = performance.now()
    await lookAt(ctx, look.appId, look.settings, { now, signal }).catch(onError)
    const next = now + pauseAfter(performance.now() - begun, everyMs)
    await ctx.tx(system, ({ tx }) => repo.endLook(tx, look.appId, { claimed, next }))
  }
}

async function lookAt(
  ctx: Ctx,
  appId: string,
  settings: Settings,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<void> {
  const { lists } = ctx.database
  const note = async (parts: AsyncGenerator<Due[]>) => {
    for await (const due of parts) {
      await noteDue(ctx, appId, settings, due)
      if (signal.aborted) return
      await turn()
    }
  }
  await note(findEnds(lists, appId, settings, now))
  if (settings.updatesEndSoon && !signal.aborted) await note(findEndsOfUpdates(lists, appId, now))
}

async function noteDue(ctx: Ctx, appId: string, settings: Settings, due: readonly Due[]): Promise<void> {
  await inSlices(ctx, system, async (write, size, at = 0) => {
    const some = due.slice(at, at + size)
    await repo.insertMails(
      write.tx,
      some.map((one) => toNewMail(appId, settings, one, write.now)),
    )
    if (some.length > 0) write.queues.add('customer mails')
    return { found: some.length, mark: at + size }
  })
}

const toNewMail = (
  appId: string,
  settings: Settings,
  { owner_id, ...due }: Due,
  now: number,
): repo.NewMail => ({
  ...{ id: newId('cml'), owner_id, app_id: appId, subject: due.license_id, ...due },
  ...{ detail: '{}', state: 'waiting', ends_at: sentUntil(settings, due), created_at: now },
})

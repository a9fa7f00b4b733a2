import { setTimeout as pause } from 'node:timers/promises'
import { system } from '../../core/actor.ts'
import { minute, second } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { createSchedule } from '../../core/queues/schedule.ts'
import { inSlices } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { type Due, findEnds, findEndsOfUpdates } from './customer-mails.due.ts'
import { releaseMails } from './customer-mails.release.ts'
import * as repo from './customer-mails.repo.ts'
import { pauseAfter, pauseInLook, type Settings, sentUntil } from './customer-mails.rules.ts'

const leaseMs = 10 * minute
/** A part with at most this many mails delays no other request. */
const few = 500

interface Options {
  onError: (error: unknown) => void
  /** How often apps are looked at, and mails that wait. */
  pollMs?: number | undefined
}

/** While more wait than the mail server has taken. */
const soonMs = 2 * second

export type CustomerMails = ReturnType<typeof createCustomerMails>

/** Finds the mails that customers are to get, and queues them when their turn comes, on any node. */
export const createCustomerMails = (
  parts: { ctx: Ctx; consoleUrl: () => string },
  { onError, pollMs = minute }: Options,
) =>
  createSchedule(
    async (signal) => {
      await findMails(parts.ctx, { onError, everyMs: pollMs, signal })
      return (await releaseMails({ ...parts, signal })) ? Math.min(soonMs, pollMs) : undefined
    },
    { everyMs: pollMs, onError },
  )

interface FindOptions {
  onError: (error: unknown) => void
  /** The time between two looks at the same app, in milliseconds. */
  everyMs: number
  signal: AbortSignal
}

/** Looks at each app that is due, one process at a time, and notes the mails that its customers are to get. */
async function findMails(ctx: Ctx, { onError, everyMs, signal }: FindOptions): Promise<void> {
  while (!signal.aborted && (await repo.hasLook(ctx.db, ctx.clock.now()))) {
    const now = ctx.clock.now()
    const claimed = now + leaseMs
    const found = await ctx.tx(system, ({ tx }) => repo.claimLook(tx, { now, until: claimed }))
    if (!found) continue
    const look = { ...found, claimed, workedMs: 0 }
    await lookAt(ctx, look, { now, signal }).catch(onError)
    const next = now + pauseAfter(look.workedMs, everyMs)
    await ctx.tx(system, ({ tx }) => repo.endLook(tx, look.appId, { claimed: look.claimed, next }))
  }
}

interface Look {
  readonly appId: string
  readonly settings: Settings
  /** Until when no other process looks at the app. */
  claimed: number
  /** How long it took without its pauses. */
  workedMs: number
}

async function lookAt(
  ctx: Ctx,
  look: Look,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<void> {
  const { appId, settings } = look
  const { lists } = ctx.database
  let begun = performance.now()
  let pauseMs = 0
  /** False if the look is over. */
  const note = async (parts: AsyncGenerator<Due[]>): Promise<boolean> => {
    for await (const due of parts) {
      if (pauseMs > 0 && !(await rest(ctx, look, { pauseMs, signal }))) return false
      begun += pauseMs
      await noteDue(ctx, appId, settings, due)
      const tookMs = performance.now() - begun
      look.workedMs += tookMs
      pauseMs = due.length > few ? pauseInLook(tookMs) : 0
      begun = performance.now()
      if (signal.aborted) return false
    }
    return true
  }
  const goesOn = await note(findEnds(lists, appId, settings, now))
  if (goesOn && settings.updatesEndSoon) await note(findEndsOfUpdates(lists, appId, now))
  look.workedMs += performance.now() - begun
}

/** Leaves the database to others, and keeps the app; false if the settings were saved or another process has the app. */
async function rest(
  ctx: Ctx,
  look: Look,
  { pauseMs, signal }: { pauseMs: number; signal: AbortSignal },
): Promise<boolean> {
  await pause(pauseMs, undefined, { signal }).catch(() => {})
  const next = ctx.clock.now() + leaseMs
  const isHeld = await ctx.tx(system, ({ tx }) =>
    repo.endLook(tx, look.appId, { claimed: look.claimed, next }),
  )
  look.claimed = next
  return isHeld && !signal.aborted
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

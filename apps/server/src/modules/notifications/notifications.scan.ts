import { system } from '../../core/actor.ts'
import { day, hour, minute, second } from '../../core/clock.ts'
import { schedule } from '../../core/queues/schedule.ts'
import type { Tx } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { queueMail } from '../mail/mail.queue.ts'
import { type Recipient, recipientOf } from './notifications.access.ts'
import { VendorNews } from './notifications.news.ts'
import * as repo from './notifications.repo.ts'
import {
  againAfterMs,
  columnOf,
  isDailyDue,
  isWeeklyDue,
  type LookedFor,
  lookedFor,
  mailTimeOf,
  type News,
  nextLook,
  toNews,
} from './notifications.rules.ts'
import { toNotification } from './notifications.text.ts'

const everyMs = minute
const firstMs = 30 * second
const vendorsPerPage = 50
/** Marks of conditions that are gone are kept longer than any of them prevents a mail. */
const keptMs = 30 * day

export interface LookOptions {
  consoleUrl: () => string
  onError: (error: unknown) => void
  /** Takes the mails instead of the queue; for tests. */
  queue?: typeof queueMail | undefined
  /** Ends the run after the vendor that it looks at. */
  signal?: AbortSignal | undefined
}

/** Looks at each vendor that is due, once across all nodes, and queues the mails that its people are to get. */
export async function sendNotifications(ctx: Ctx, options: LookOptions): Promise<void> {
  for (;;) {
    const now = ctx.clock.now()
    const due = await repo.listDue(ctx.db, now, vendorsPerPage)
    for (const ownerId of due) {
      if (options.signal?.aborted) return
      const take = ({ tx }: { tx: Tx }) => repo.takeLook(tx, ownerId, now, nextLook(now))
      if (!(await ctx.tx(system, take))) continue
      await lookAt(ctx, options, ownerId, now).catch(options.onError)
    }
    if (due.length < vendorsPerPage) return
  }
}

async function lookAt(ctx: Ctx, options: LookOptions, ownerId: string, now: number): Promise<void> {
  const wanting = await repo.listWanting(ctx.db, ownerId)
  if (wanting.length === 0) {
    await ctx.tx(system, ({ tx }) => repo.endLooks(tx, ownerId))
    return
  }
  const news = new VendorNews(ctx, ownerId, now)
  for (const row of wanting) {
    for (const kind of lookedFor) {
      const about = { ownerId, accountId: row.account_id, kind }
      if (row[columnOf[kind]] === 1) await tell(ctx, options, about, news, now)
    }
  }
  await ctx.tx(system, ({ tx }) => repo.deleteOldMarks(tx, ownerId, now - keptMs))
}

interface About extends repo.Person {
  kind: LookedFor
}

/** Tells a person what is new of one kind, if anything is. */
async function tell(
  ctx: Ctx,
  { consoleUrl, queue = queueMail }: LookOptions,
  about: About,
  news: VendorNews,
  now: number,
): Promise<void> {
  const { kind } = about
  const isPeriodic = kind === 'weeklySummary' || kind === 'licensesExpiring'
  if (isPeriodic && !(kind === 'weeklySummary' ? isWeeklyDue : isDailyDue)(now)) return
  const before = isPeriodic ? mailTimeOf(now) - 1 : now - day
  const known = await repo.listMarks(ctx.db, about)
  const last = known.find(({ subject }) => subject === '')?.sent_at
  if (isPeriodic && last !== undefined && last > before) return
  if (!(await recipientOf(ctx.db, about, kind))) return
  const newsFor = await (kind === 'licensesExpiring' ? news.licensesExpiring(last) : news[kind]())

  const findNew = async (db: Ctx['db'], recipient: Recipient) => {
    const found = newsFor(recipient)
    if (kind === 'weeklySummary' || kind === 'licensesExpiring') return { news: found, gone: [] }
    const told = (await repo.listMarks(db, about)).filter(({ subject }) => subject !== '')
    return toNews(found, told, againAfterMs[kind], now)
  }
  const recipient = await recipientOf(ctx.db, about, kind)
  if (!recipient) return
  const { news: found, gone } = await findNew(ctx.db, recipient)
  if (gone.length === 0 && (found.length === 0 || (last !== undefined && last > before))) return

  await ctx.tx(system, async (write) => {
    // Read again: the person may have lost its access, or turned the mail off, since the facts were read.
    const reader = await recipientOf(write.tx, about, kind)
    if (!reader) return
    const changes = await findNew(write.tx, reader)
    if (changes.gone.length > 0) await repo.markGone(write.tx, about, changes.gone)
    if (changes.news.length === 0 || !(await repo.markSent(write.tx, about, { now, before }))) return
    if (!isPeriodic) {
      const subjects = changes.news.map(({ subject }) => subject)
      await repo.markTold(write.tx, about, subjects, now)
    }
    const mail = toNotification(kind, reader, consoleUrl(), { ...words[kind], lines: linesOf(changes.news) })
    // What belongs to a day is not sent on another one.
    const ends = isPeriodic ? { expiresAt: mailTimeOf(now) + 16 * hour } : {}
    await queue(ctx, write, { ...mail, ...ends, ownerId: about.ownerId, accountId: about.accountId })
  })
}

const linesOf = (news: readonly News[]): string[] => news.map(({ text }) => text)

const words: Readonly<Record<LookedFor, { subject: string; intro: string; page?: string; outro?: string }>> =
  {
    keysRunningOut: {
      subject: 'Unused keys are running out',
      intro: 'there are fewer unused keys than your customers redeemed in the last 7 days.',
      page: '/licenses',
    },
    quotaRunningOut: {
      subject: 'Limits are nearly used up',
      intro: 'of each of these limits, 90 % or more is used.',
    },
    licensesExpiring: {
      subject: 'Licenses end within 7 days',
      intro: 'these licenses are in use and end within 7 days. Earlier messages did not count them.',
      page: '/licenses',
    },
    refusalsRising: {
      subject: 'More requests are refused than usual',
      intro: 'programs were refused at least three times as often as usual.',
      outro: 'A new release with an old setting can be the cause, an attack, or a mistake in your program.',
      page: '/activity',
    },
    ordersWaiting: {
      subject: 'Orders wait for you',
      intro:
        'these orders of your shops could not be fulfilled yet, a part of them was refunded, or their keys could not be mailed.',
      outro:
        'An order that waits is tried again by itself, and at once when you change the products of its shop. Keys are mailed again when you ask for it, on the page of the order.',
      page: '/orders',
    },
    weeklySummary: {
      subject: 'Your week in Keyward',
      intro: 'this is what happened from Monday to Sunday.',
      page: '/dashboard',
    },
  }

/** Looks every minute until the returned function is called. A server that sends no mail looks for nothing. */
export function startNotifications(
  ctx: Ctx,
  options: LookOptions,
  firstAfterMs = firstMs,
): () => Promise<void> {
  if (ctx.config.passwordReset === 'operator') return async () => {}
  const { consoleUrl, onError } = options
  return schedule((signal) => sendNotifications(ctx, { consoleUrl, onError, signal }), {
    ...{ everyMs, firstMs: firstAfterMs, onError },
  })
}

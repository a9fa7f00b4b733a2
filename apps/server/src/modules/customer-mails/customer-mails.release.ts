import { canonicalLocale } from '@keyward/contract'
import { system } from '../../core/actor.ts'
import { inSlices, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { languageOfMails } from '../app-mails/app-mails.language.ts'
import { tagsOf } from '../app-mails/app-mails.rules.ts'
import { queueBuyerMail, takeMailOfDay } from '../app-mails/buyer-mails.ts'
import { customerWordsOf } from '../app-mails/customer-mails.texts.ts'
import { mailTokenOf } from '../customers/customers.access.ts'
import { type MailTerms, readMailTerms } from '../owners/owners.service.ts'
import { keptUntil, toSubject } from './customer-mails.ends.ts'
import * as repo from './customer-mails.repo.ts'
import { canBeStopped, isWanted, type Settings } from './customer-mails.rules.ts'
import { valuesOf } from './customer-mails.values.ts'

export interface ReleaseParts {
  ctx: Ctx
  consoleUrl: () => string
  signal: AbortSignal
}

/** How many mails of one vendor wait for the mail server at most: later ones are looked at later, and may be dropped. */
const queuedMost = 1000
const perSlice = 50

/** Queues the mails to customers whose turn it is, one vendor after the other. Returns whether some could go soon. */
export async function releaseMails(parts: ReleaseParts): Promise<boolean> {
  const { ctx, signal } = parts
  let hasMore = false
  for (let after = ''; !signal.aborted; ) {
    const ownerId = await repo.findWaitingOwner(ctx.db, after)
    if (ownerId === undefined) break
    await missLate(ctx, ownerId)
    if (await releaseOf(parts, ownerId)) hasMore = true
    after = ownerId
  }
  return hasMore
}

const missLate = (ctx: Ctx, ownerId: string) =>
  inSlices(ctx, system, async ({ tx, now }, count) => ({
    found: await repo.missMails(tx, ownerId, { now, keptUntil: keptUntil(now, 'ended') ?? now, count }),
  }))

/** Returns whether more could be queued once the mail server has taken some. */
async function releaseOf({ ctx, consoleUrl, signal }: ReleaseParts, ownerId: string): Promise<boolean> {
  const terms = await readMailTerms(ctx, ctx.db, { ownerId })
  if (!terms.isConfirmed) return false
  let room = queuedMost - (await repo.countQueued(ctx.db, `customers ${ownerId}`, queuedMost))
  let isDayOver = false
  await inSlices(ctx, system, async (write, size) => {
    const count = Math.min(size, perSlice, room)
    if (count <= 0 || signal.aborted) return { found: 0 }
    const rows = await repo.listWaiting(write.tx, ownerId, { now: write.now, count, onlySecurity: isDayOver })
    const left = await releaseRows({ ctx, consoleUrl }, write, terms, rows)
    room -= rows.length - left
    // Mails about security have turns of their own.
    const isEnd = rows.length < count || (left > 0 && isDayOver)
    isDayOver ||= left > 0
    return { found: isEnd ? 0 : size, changed: rows.length - left }
  })
  return room <= 0
}

/** Queues or drops mails; returns how many wait for another day. */
async function releaseRows(
  { ctx, consoleUrl }: Omit<ReleaseParts, 'signal'>,
  write: WriteTransaction,
  terms: MailTerms,
  rows: readonly repo.MailView[],
): Promise<number> {
  const { tx, now } = write
  const apps = new Map<string, OfApp>()
  const queued: string[] = []
  const dropped: string[] = []
  let isDayOver = false
  let left = 0
  for (const row of rows) {
    const app = apps.get(row.app_id) ?? (await readApp(tx, row.app_id))
    apps.set(row.app_id, app)
    if (!isWanted(row, toSubject(row), app.settings)) {
      dropped.push(row.id)
      continue
    }
    const takesPlace = row.kind !== 'security' || !terms.isPremium
    if (takesPlace && (isDayOver || !(await takeMailOfDay(write, row.owner_id, terms.perDay, true)))) {
      isDayOver = true
      left += 1
      continue
    }
    await queue({ ctx, consoleUrl }, write, { ...row, locale: row.locale ?? app.language }, terms)
    queued.push(row.id)
  }
  await repo.endMails(tx, queued, { state: 'queued' })
  await repo.endMails(tx, dropped, { state: 'dropped', done_at: now, kept_until: keptUntil(now, 'ended') })
  return left
}

interface OfApp {
  settings: Settings
  /** What customers speak whose own language is unknown. */
  language: string | null
}

const readApp = async (tx: Tx, appId: string): Promise<OfApp> => ({
  settings: await repo.readSettings(tx, appId),
  language: (await languageOfMails(tx, appId)) ?? null,
})

async function queue(
  { ctx, consoleUrl }: Omit<ReleaseParts, 'signal'>,
  write: WriteTransaction,
  row: repo.MailView,
  { hasOwnWords }: MailTerms,
): Promise<void> {
  const { owner_id: ownerId, app_id: appId, customer_id: customerId, kind, locale } = row
  const tags = tagsOf((locale && canonicalLocale(locale)) || null)
  const token =
    canBeStopped(kind) && (await mailTokenOf(write, { id: customerId, mail_token: row.mail_token }))
  await queueBuyerMail(ctx, write, {
    ...{ ownerId, appId, customerId, about: row.id, to: row.email, locale, kind, hasOwnWords },
    values: { keys: [], ...(await valuesOf(ctx, write.tx, row, tags)) },
    expiresAt: row.ends_at,
    ...(token && {
      unsubscribe: {
        words: customerWordsOf(tags).unsubscribe,
        link: `${consoleUrl()}/api/unsubscribe/${token}`,
      },
    }),
  })
}

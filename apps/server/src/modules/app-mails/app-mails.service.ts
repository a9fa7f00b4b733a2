import {
  type AppMail,
  type BodyOf,
  canonicalLocale,
  type endpoints,
  type MailKind,
  misplaced,
} from '@keyward/contract'
import type { OwnerScope, PersonActor, VendorActor } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import { invalid, problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import type { Db } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { AccountMails } from '../account-mails/account-mails.service.ts'
import { lockAccount } from '../accounts/accounts.service.ts'
import { getApp, lockApp } from '../apps/apps.access.ts'
import { findFace } from '../profiles/profiles.access.ts'
import * as repo from './app-mails.repo.ts'
import { builtInLocales, dayInWords, pickMail, tagsOf, toTestMail } from './app-mails.rules.ts'
import { pageOf } from './buyer-mails.ts'

/** Which mail of an app. */
export interface Named {
  app: string
  kind: MailKind
  locale?: string | undefined
}

export async function getAppMail(ctx: Ctx, scope: OwnerScope, { app, kind, locale }: Named) {
  const { id } = await getApp(ctx.db, scope, app)
  return shown(ctx.db, id, kind, localeOf(locale))
}

export type AppMailChange = BodyOf<typeof endpoints.appMails.update>

/** Saves the mail of a language; parts that are omitted get their defaults. */
export function updateAppMail(
  ctx: Ctx,
  actor: VendorActor,
  { app, kind, locale: tag }: Named,
  { seen, html = null, fromName = null, replyTo = null, ...texts }: AppMailChange,
) {
  const locale = localeOf(tag)
  const [wrong] = misplaced(kind, { ...texts, html })
  if (wrong) throw invalid(wrong.path, wrong.message)
  const mail: AppMail = { ...texts, html, fromName, replyTo }
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    const { id } = await getApp(tx, actor, app)
    if (!(await lockApp(tx, actor, id))) throw problem('not_found')
    const tags = tagsOf(locale)
    const before = pickMail(await repo.listMails(tx, id, kind, tags), kind, tags)
    if (seen && hasChanged({ ...before }, seen, { ...mail })) throw problem('app_mail_changed')
    const parts = { ...texts, html, from_name: fromName, reply_to: replyTo }
    const row = { app_id: id, kind, locale: locale ?? '', ...parts }
    if (!(await repo.saveMail(tx, row))) throw problem('locales_full')
    const changed = (Object.keys(mail) as (keyof AppMail)[]).filter((part) => mail[part] !== before[part])
    write.record('app.mail_changed', id, { ...recorded(kind, locale), changed }, id)
    return shown(tx, id, kind, locale)
  })
}

export function resetAppMail(ctx: Ctx, actor: VendorActor, { app, kind, locale: tag }: Named) {
  const locale = localeOf(tag)
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    const { id } = await getApp(tx, actor, app)
    if (!(await lockApp(tx, actor, id))) throw problem('not_found')
    await repo.deleteMail(tx, id, kind, locale ?? '')
    write.record('app.mail_reset', id, recorded(kind, locale), id)
    return shown(tx, id, kind, locale)
  })
}

/** Mails the caller what a buyer would get, with invented values. */
export async function testAppMail(
  { ctx, accountMails }: { ctx: Ctx; accountMails: Pick<AccountMails, 'queueAsked'> },
  actor: PersonActor,
  { app, kind, locale: tag }: Named,
): Promise<void> {
  const locale = localeOf(tag)
  await ctx.tx(actor, async (write) => {
    const { tx } = write
    const found = await getApp(tx, actor, app)
    const { id, name } = found
    const account = await lockAccount(tx, actor.actorId)
    if (!account) throw problem('unauthorized')
    // Anyone can register with another's address, and write into this mail what they like.
    if (account.confirmed_email !== account.email_normalized) throw problem('email_not_confirmed')
    const tags = tagsOf(locale)
    const mail = pickMail(await repo.listMails(tx, id, kind, tags), kind, tags)
    const face = await findFace(tx, id)
    const page = pageOf(ctx.config, found)
    const values = { ...invented(ctx.clock.now(), tags), app: name, page }
    write.record('app.mail_tested', id, recorded(kind, locale), id)
    await accountMails.queueAsked(
      write,
      account.id,
      toTestMail({ to: account.email, mail, values, face }, kind, tags),
    )
  })
}

/** What a test is filled in with. */
const invented = (now: number, tags: readonly string[]) => ({
  ...{ keys: ['TEST-XXXX-XXXX-XXXX'], name: 'Ada Lovelace', order: '1001', type: 'Pro' },
  ...{ end: dayInWords(now + 14 * day, tags), version: '1.0.1', summary: 'What was repaired.' },
  ...{ renew: 'https://example.com/renew', link: 'https://example.com/security' },
})

const recorded = (kind: MailKind, locale: string | null) => ({
  ...(kind !== 'purchase' && { kind }),
  ...(locale && { locale }),
})

const localeOf = (tag: string | undefined): string | null => (tag && canonicalLocale(tag)) || null

async function shown(db: Db, appId: string, kind: MailKind, locale: string | null) {
  const rows = await repo.listMails(db, appId, kind, tagsOf(locale))
  return {
    mail: pickMail(rows, kind, tagsOf(locale)),
    changed: rows.some((row) => row.locale === (locale ?? '')),
    locales: await repo.listLocales(db, appId, kind),
    builtIn: builtInLocales,
  }
}

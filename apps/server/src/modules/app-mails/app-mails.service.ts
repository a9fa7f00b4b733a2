import { type AppMail, canonicalLocale } from '@keyward/contract'
import type { OwnerScope, PersonActor, VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import type { Db } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { AccountMails } from '../account-mails/account-mails.service.ts'
import { lockAccount } from '../accounts/accounts.service.ts'
import { lockApp } from '../apps/apps.access.ts'
import { getApp } from '../apps/apps.service.ts'
import { findFace } from '../profiles/profiles.access.ts'
import { builtInLocales } from './app-mails.defaults.ts'
import * as repo from './app-mails.repo.ts'
import { pickMail, tagsOf, toTestMail } from './app-mails.rules.ts'
import { pageOf } from './buyer-mails.ts'

export async function getAppMail(ctx: Ctx, scope: OwnerScope, app: string, tag: string | undefined) {
  const { id } = await getApp(ctx.db, scope, app)
  return shown(ctx.db, id, localeOf(tag))
}

export interface AppMailChange extends Pick<AppMail, 'subject' | 'text'> {
  html?: AppMail['html'] | undefined
  fromName?: AppMail['fromName'] | undefined
  replyTo?: AppMail['replyTo'] | undefined
  locale?: string | undefined
  seen?: { [Part in keyof AppMail]?: AppMail[Part] | undefined } | undefined
}

/** Saves the mail of a language; parts that are omitted get their defaults. */
export function updateAppMail(
  ctx: Ctx,
  actor: VendorActor,
  app: string,
  { seen, locale: tag, html = null, fromName = null, replyTo = null, ...texts }: AppMailChange,
) {
  const locale = localeOf(tag)
  const mail: AppMail = { ...texts, html, fromName, replyTo }
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    const { id } = await getApp(tx, actor, app)
    if (!(await lockApp(tx, actor, id))) throw problem('not_found')
    const before = pickMail(await repo.listMails(tx, id, tagsOf(locale)), tagsOf(locale))
    if (seen && hasChanged({ ...before }, seen, { ...mail })) throw problem('app_mail_changed')
    const row = { app_id: id, locale: locale ?? '', ...texts, html, from_name: fromName, reply_to: replyTo }
    if (!(await repo.saveMail(tx, row))) throw problem('locales_full')
    const changed = (Object.keys(mail) as (keyof AppMail)[]).filter((part) => mail[part] !== before[part])
    write.record('app.mail_changed', id, { ...(locale && { locale }), changed }, id)
    return shown(tx, id, locale)
  })
}

export function resetAppMail(ctx: Ctx, actor: VendorActor, app: string, tag: string | undefined) {
  const locale = localeOf(tag)
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    const { id } = await getApp(tx, actor, app)
    if (!(await lockApp(tx, actor, id))) throw problem('not_found')
    await repo.deleteMail(tx, id, locale ?? '')
    write.record('app.mail_reset', id, { ...(locale && { locale }) }, id)
    return shown(tx, id, locale)
  })
}

export interface TestParts {
  ctx: Ctx
  accountMails: Pick<AccountMails, 'queueAsked'>
}

/** Mails the caller what a buyer would get, with invented values. */
export async function testAppMail(
  { ctx, accountMails }: TestParts,
  actor: PersonActor,
  app: string,
  tag: string | undefined,
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
    const mail = pickMail(await repo.listMails(tx, id, tags), tags)
    const face = await findFace(tx, id)
    const page = pageOf(ctx.config, found)
    const values = { keys: [inventedKey], app: name, name: 'Ada Lovelace', order: '1001', page }
    write.record('app.mail_tested', id, { ...(locale && { locale }) }, id)
    await accountMails.queueAsked(
      write,
      account.id,
      toTestMail({ to: account.email, mail, values, face }, tags),
    )
  })
}

const inventedKey = 'TEST-XXXX-XXXX-XXXX'

const localeOf = (tag: string | undefined): string | null => (tag && canonicalLocale(tag)) || null

async function shown(db: Db, appId: string, locale: string | null) {
  const rows = await repo.listMails(db, appId, tagsOf(locale))
  return {
    mail: pickMail(rows, tagsOf(locale)),
    changed: rows.some((row) => row.locale === (locale ?? '')),
    locales: await repo.listLocales(db, appId),
    builtIn: builtInLocales,
  }
}

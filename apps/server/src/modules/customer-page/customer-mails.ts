import { limits } from '@keyward/contract'
import { minute } from '../../core/clock.ts'
import { normalizeEmail } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { mailLink } from '../customer-sessions/customer-links.ts'
import type { AskedLink } from '../password-resets/reset-requests.ts'
import { findFace } from '../profiles/profiles.access.ts'
import * as repo from './customer-page.repo.ts'
import { type CustomerPageDeps, getPage } from './customer-page.service.ts'

/** The window equals a link's lifetime, so that whoever exhausts it leaves working links in the mailbox. */
const requestsForEmail: Allowance = {
  name: 'customer mail',
  max: 3,
  windowMs: limits.customerLinkMinutes * minute,
}
const requestsOfAddress: Allowance = { name: 'customer mails of address', max: 30, windowMs: 60 * minute }
/** Requests for an app, from all addresses and for all mailboxes: each stores a row. */
const requestsOfApp: Allowance = { name: 'customer mails of app', max: 1000, windowMs: 60 * minute }

/** Stores the request, and looks up the address later: neither response nor timing reveals whether it is a customer's. */
export async function requestLink(
  { ctx, attempts, resets }: CustomerPageDeps,
  idOrAppId: string,
  { email, locale, address }: { email: string; locale?: string | undefined; address: string },
): Promise<void> {
  const page = await getPage(ctx.db, idOrAppId)
  if (ctx.config.passwordReset === 'operator')
    throw problem('mail_off', { message: 'This server sends no mail' })
  const normalized = normalizeEmail(email)
  await attempts.count(requestsOfAddress, address)
  await attempts.count(requestsForEmail, page.id, normalized)
  await attempts.count(requestsOfApp, page.id)
  await ctx.tx({ kind: 'anonymous', ownerId: null, address }, (write) =>
    resets.queue.add(write, { kind: 'customer', app: page.id, email: normalized, locale, address }),
  )
}

/** Mails the link if the address is that of a customer with something in the app, as long as the day's links are not used up. */
export async function sendLink(
  { ctx, attempts, consoleUrl }: { ctx: Ctx; attempts: Attempts; consoleUrl: () => string },
  { app: appId, email, locale, address }: AskedLink,
  take: (write: WriteTransaction) => Promise<boolean>,
): Promise<void> {
  const page = await repo.findPage(ctx.db, appId)
  const actor = { kind: 'anonymous' as const, ownerId: page?.owner_id ?? null, address }
  await ctx.tx(actor, async (write) => {
    if (!(await take(write)) || !page) return
    const { id, owner_id: ownerId, app_id, name } = page
    const customer = await repo.findByEmail(write.tx, { ownerId, appId: id }, email)
    if (!customer) return
    const subject = { kind: 'customer' as const, id: customer.id }
    write.record('customer.link_requested', customer.id, {}, id)
    await mailLink({ ctx, attempts }, write, {
      ...{ app: { id, ownerId, appId: app_id, name }, subject, purpose: 'open', locale },
      ...{ secret: customer.email_normalized, email: customer.email, customerId: customer.id },
      ...{ consoleUrl: consoleUrl(), face: await findFace(write.tx, id) },
    })
  })
}

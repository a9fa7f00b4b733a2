import type { Client } from '@keyward/contract'
import type { OwnerScope, ProgramActor, VendorActor } from '../../core/actor.ts'
import { callerOf } from '../../core/networks/caller.ts'
import { checkPassword } from '../../core/passwords/password-policy.ts'
import { problem, rateLimited } from '../../core/problem.ts'
import type { Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { languageOfMails } from '../app-mails/app-mails.language.ts'
import { mailLink } from '../customer-sessions/customer-links.ts'
import { deleteTokensOf } from '../devices/device-tokens.access.ts'
import { updateEndUser } from '../entitlements/end-user-rows.ts'
import { findFace } from '../profiles/profiles.access.ts'
import { endProgramSessionsOf } from '../sessions/program-sessions.access.ts'
import * as repo from './end-users.repo.ts'
import { changeEndUser } from './end-users.service.ts'

/** Sets the password of an end user; its sessions and remembered sign-ins end. */
export async function setPassword(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  password: string,
): Promise<Client> {
  await withPassword(ctx, actor, id)
  checkPassword(ctx, 'password', password)
  const passwordHash = await ctx.passwords.hash(password, callerOf(actor))
  return changeEndUser(ctx, actor, id, async (write, { app_id, password_hash }) => {
    if (password_hash === null) throw problem('signs_in_by_key')
    await updateEndUser(write.tx, actor, id, { password_hash: passwordHash })
    await endProgramSessionsOf(write.tx, [id])
    await deleteTokensOf(write.tx, actor, id)
    write.record('end_user.password_set', id, {}, app_id)
  })
}

/** Mails an end user, or its customer, a link to choose a password on the page of the app. */
export async function mailPasswordLink(
  { ctx, attempts, consoleUrl }: { ctx: Ctx; attempts: Attempts; consoleUrl: () => string },
  actor: VendorActor | ProgramActor,
  id: string,
): Promise<Client> {
  const { app_id: appId } = await withPassword(ctx, actor, id)
  const app = await repo.findAppOfPage(ctx.db, actor, appId)
  if (!app) throw problem('customer_page_off')
  if (ctx.config.passwordReset === 'operator') throw problem('mail_off')
  return changeEndUser(ctx, actor, id, async (write, client) => {
    if (client.password_hash === null) throw problem('signs_in_by_key')
    const customer = await repo.findCustomerOf(write.tx, actor, id)
    const email = customer?.email ?? client.email
    if (email === null) throw problem('no_address')
    write.record('end_user.password_link_mailed', id, {}, client.app_id)
    const ordered = customer && (await repo.findLocaleOf(write.tx, actor, customer.id))
    const waitMs = await mailLink({ ctx, attempts }, write, {
      ...{ app: { ...app, ownerId: actor.ownerId }, subject: { kind: 'end_user', id }, email },
      face: await findFace(write.tx, app.id),
      ...{ secret: client.password_hash, customerId: customer?.id ?? null, purpose: 'password' },
      locale: ordered ?? (await languageOfMails(write.tx, app.id)),
      consoleUrl: consoleUrl(),
    })
    if (waitMs === 'unconfirmed') throw problem('email_not_confirmed')
    if (waitMs > 0) throw rateLimited(waitMs)
  })
}

async function withPassword(ctx: Ctx, scope: OwnerScope, id: string): Promise<repo.EndUserView> {
  const client = await repo.findEndUser(ctx.db, scope, id)
  if (!client) throw problem('not_found')
  if (client.password_hash === null) throw problem('signs_in_by_key')
  return client
}

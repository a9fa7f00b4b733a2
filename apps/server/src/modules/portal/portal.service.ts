import type { PortalReseller, PortalVendor, SecondFactorStep } from '@keyward/contract'
import type { ResellerActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { normalizeEmail } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findLogo } from '../mail/mail.face.ts'
import { findFace } from '../profiles/profiles.access.ts'
import * as resellers from '../resellers/resellers.access.ts'
import { remainingLicenses } from '../resellers/resellers.rules.ts'
import { holderOf, toActor } from '../resellers/resellers.service.ts'
import { toLoginState } from '../second-factors/login-state.ts'
import { askForFactor } from '../second-factors/second-factors.proofs.ts'
import { endSession, openSession } from '../sessions/sessions.service.ts'
import { checkCredentials } from '../sessions/sign-in.service.ts'

type ResellerView = Awaited<ReturnType<typeof getReseller>>

/** Answers a suspended reseller like an unknown address. */
export async function login(
  ctx: Ctx,
  attempts: Attempts,
  credentials: { email: string; password: string; address: string },
): Promise<{ token: string; reseller: PortalReseller } | SecondFactorStep> {
  const email = normalizeEmail(credentials.email)
  const account = accountOf(email)
  const { row: found, strongerHash } = await checkCredentials(
    ctx,
    attempts,
    { ...credentials, account },
    async () => {
      const reseller = await resellers.findByEmail(ctx.db, email)
      return reseller?.active === 1 ? reseller : undefined
    },
  )
  const actor = toActor(found, credentials.address)
  const done = await ctx.tx(actor, async (write) => {
    // The password may have changed while this one was being checked.
    const isUnchanged =
      (await resellers.lockActive(write.tx, found.id)) &&
      (await resellers.findByEmail(write.tx, email))?.password_hash === found.password_hash
    if (!isUnchanged) throw problem('invalid_credentials')
    if (strongerHash) await resellers.setPasswordHash(write.tx, found.id, strongerHash)
    const state = toLoginState(strongerHash ?? found.password_hash)
    const asked = await askForFactor({ ctx }, write, holderOf(found.id), { call: 'login', state })
    if (asked) return asked
    write.record('reseller.signed_in', found.id, {})
    return openSession(write, holderOf(found.id), actor.sessionId)
  })
  return typeof done === 'string' ? { token: done, reseller: toPortalReseller(found) } : done
}

export async function logout(ctx: Ctx, actor: ResellerActor): Promise<void> {
  await ctx.tx(actor, async (write) => {
    await endSession(write.tx, holderOf(actor.resellerId), actor.sessionId)
    write.record('reseller.signed_out', actor.resellerId, {})
  })
}

export const getProfile = async (ctx: Ctx, actor: ResellerActor): Promise<PortalReseller> =>
  toPortalReseller(await getReseller(ctx, actor))

/** What the portal shows of the vendor. */
export async function getVendor({ db }: Ctx, { appId }: ResellerActor): Promise<PortalVendor> {
  const { name, support, shop, logo, app } = await findFace(db, appId)
  const found = logo && (await findLogo(db, logo))
  return {
    ...{ name: name ?? app, support, shop },
    logo: found ? `data:${found.type};base64,${found.bytes.toString('base64')}` : null,
  }
}

/** The row of the signed-in reseller. */
export async function getReseller(ctx: Ctx, actor: ResellerActor) {
  const reseller = await resellers.findReseller(ctx.db, actor, actor.resellerId)
  if (!reseller) throw problem('unauthorized')
  return reseller
}

/** The rate limit's key for attempts on a reseller's password. */
export const accountOf = (emailNormalized: string): string => `reseller:${emailNormalized}`

export const toPortalReseller = (row: ResellerView): PortalReseller => ({
  _id: row.id,
  email: row.email,
  app_id: { name: row.app_name },
  allowed_license_keys: row.allowed_license_keys,
  created_licenses: row.license_count,
  remaining_licenses: remainingLicenses(row),
  active: row.active === 1,
  createdAt: toIso(row.created_at),
  role: 'Reseller',
})

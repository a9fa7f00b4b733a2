import type { Clock } from '../../core/clock.ts'
import { day } from '../../core/clock.ts'
import { normalizeEmail } from '../../core/ids.ts'
import { type Database, transactAsOperator } from '../../db/index.ts'
import { getAccount } from '../accounts/accounts.service.ts'
import { findOwnerByEmail, lockOwner, setByOperator, setPremiumUntil } from '../owners/owners.service.ts'
import { type CurrentPlan, forever, grantedPlanOf, type Plan } from '../owners/plan.rules.ts'
import { endPeriods } from '../payments/subscription.service.ts'

export interface PlanChange {
  email: string
  before: CurrentPlan
  after: CurrentPlan
}

/**
 * Sets an owner's plan from now on, for the operator; with `days` null premium has no end. Undefined if no account has
 * the address.
 */
export async function setPlan(
  { db }: Pick<Database, 'db'>,
  clock: Clock,
  grant: { email: string; plan: Plan; days: number | null },
): Promise<PlanChange | undefined> {
  const now = clock.now()
  const until = grant.plan === 'free' ? null : grant.days === null ? forever : now + grant.days * day
  const found = await findOwnerByEmail(db, normalizeEmail(grant.email))
  if (!found) return undefined
  const scope = { ownerId: found.id }
  return transactAsOperator(db, { ...scope, now }, async (write) => {
    const owner = await lockOwner(write.tx, scope)
    await setPremiumUntil(write.tx, scope, until)
    await endPeriods(write.tx, scope, now)
    const [before, after] = [grantedPlanOf(owner.premium_until, now), grantedPlanOf(until, now)]
    write.record('plan.set', owner.id, { before, after })
    const { email } = await getAccount(write.tx, owner.account_id)
    return { email, before, after }
  })
}

/** Limits in place of those of the plan; null for those of the plan. */
export interface VendorLimits {
  apps: number | null
  licensesPerApp: number | null
  /** Mails to buyers a day. */
  mails: number | null
}

export interface LimitsChange {
  email: string
  ownerId: string
  before: VendorLimits
  after: VendorLimits
}

/** Sets the limits that are given, for the operator; they apply to what is new. Undefined if no account has the address. */
export async function setLimits(
  { db }: Pick<Database, 'db'>,
  clock: Clock,
  email: string,
  change: Partial<VendorLimits>,
): Promise<LimitsChange | undefined> {
  const found = await findOwnerByEmail(db, normalizeEmail(email))
  if (!found) return undefined
  const scope = { ownerId: found.id }
  return transactAsOperator(db, { ...scope, now: clock.now() }, async (write) => {
    const owner = await lockOwner(write.tx, scope)
    const before: VendorLimits = {
      apps: owner.max_apps,
      licensesPerApp: owner.max_licenses_per_app,
      mails: owner.max_mails,
    }
    const after = { ...before, ...change }
    if (
      Object.keys(after).some(
        (name) => after[name as keyof VendorLimits] !== before[name as keyof VendorLimits],
      )
    ) {
      const columns = {
        max_apps: after.apps,
        max_licenses_per_app: after.licensesPerApp,
        max_mails: after.mails,
      }
      await setByOperator(write.tx, scope, columns)
      write.record('vendor.limits_set', owner.id, { before, after })
    }
    const { email: address } = await getAccount(write.tx, owner.account_id)
    return { email: address, ownerId: owner.id, before, after }
  })
}

import type { Clock } from '../../core/clock.ts'
import { day } from '../../core/clock.ts'
import { normalizeName } from '../../core/ids.ts'
import { transactAsOperator } from '../../core/record.ts'
import type { Database } from '../../db/open.ts'
import { findOwnerByEmail, lockOwner, setPremiumUntil } from '../owners/owners.service.ts'
import { type Plan, planOf } from '../owners/plan.rules.ts'
import { endPeriods } from '../payments/subscription.service.ts'

export interface PlanState {
  plan: Plan
  /** Milliseconds since 1970; null on the free plan. */
  until: number | null
}

export interface PlanChange {
  email: string
  before: PlanState
  after: PlanState
}

/** Sets an owner's plan from now on, for the operator; undefined if no account has the address. */
export async function setPlan(
  { db }: Pick<Database, 'db'>,
  clock: Clock,
  given: { email: string; plan: Plan; days: number },
): Promise<PlanChange | undefined> {
  const now = clock.now()
  const until = given.plan === 'premium' ? now + given.days * day : null
  const found = await findOwnerByEmail(db, normalizeName(given.email))
  if (!found) return undefined
  const scope = { ownerId: found.id }
  return transactAsOperator(db, { ...scope, now }, async (write) => {
    const owner = await lockOwner(write.tx, scope)
    await setPremiumUntil(write.tx, scope, until)
    await endPeriods(write.tx, scope, now)
    const [before, after] = [toState(owner.premium_until, now), toState(until, now)]
    write.record('plan.set', owner.id, { before, after })
    return { email: owner.email, before, after }
  })
}

function toState(premiumUntil: number | null, now: number): PlanState {
  const plan = planOf(premiumUntil, now)
  return { plan, until: plan === 'premium' ? premiumUntil : null }
}

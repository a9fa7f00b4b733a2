import { audit } from '../../core/audit.ts'
import type { Clock } from '../../core/clock.ts'
import { day } from '../../core/clock.ts'
import { normalizeName } from '../../core/ids.ts'
import { type Database, transact } from '../../db/open.ts'
import { findOwnerByEmail, setPremiumUntil } from '../auth/auth.service.ts'
import { type Plan, planOf } from '../auth/plan.rules.ts'
import { endPeriods } from '../payments/payments.state.ts'

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

/** Sets an owner's plan on an operator's word, counted from now; undefined when nobody has the address. */
export async function setPlan(
  { db }: Pick<Database, 'db'>,
  clock: Clock,
  given: { email: string; plan: Plan; days: number },
): Promise<PlanChange | undefined> {
  const now = clock.now()
  const until = given.plan === 'premium' ? now + given.days * day : null
  return transact(db, async (tx) => {
    const owner = await findOwnerByEmail(tx, normalizeName(given.email))
    if (!owner) return undefined
    const scope = { ownerId: owner.id }
    await setPremiumUntil(tx, scope, until)
    await endPeriods(tx, scope, now)
    await audit(tx, {
      ...scope,
      actor: { kind: 'operator', id: 'command line' },
      action: 'plan.set',
      targetId: owner.id,
      detail: { plan: given.plan, until },
      now,
    })
    return { email: owner.email, before: toState(owner.premium_until, now), after: toState(until, now) }
  })
}

function toState(premiumUntil: number | null, now: number): PlanState {
  const plan = planOf(premiumUntil, now)
  return { plan, until: plan === 'premium' ? premiumUntil : null }
}

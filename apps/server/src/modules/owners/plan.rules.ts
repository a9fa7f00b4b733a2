import { limits, unlimited } from '@keyward/contract'

export type Plan = 'free' | 'premium'

export interface PlanLimits {
  maxApps: number
  maxLicensesPerApp: number
  maxResellers: number
}

/** A grant without an end is stored as this date, which every version reads as premium: the last instant of 9999. */
export const forever = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

export const isForever = (premiumUntil: number | null): boolean =>
  premiumUntil !== null && premiumUntil >= forever

export interface CurrentPlan {
  plan: Plan
  /** When premium ends, in milliseconds since 1970; null on the free plan, and for premium without an end. */
  until: number | null
}

/** The plan that was paid or granted. After its end date premium falls back to free, and nothing is deleted. */
export function grantedPlanOf(premiumUntil: number | null, now: number): CurrentPlan {
  if (premiumUntil === null || premiumUntil <= now) return { plan: 'free', until: null }
  return { plan: 'premium', until: isForever(premiumUntil) ? null : premiumUntil }
}

/** The plan that applies: where every owner has premium, the end of a paid period ends nothing. */
export const planOf = (premiumUntil: number | null, now: number, defaultPlan: Plan): CurrentPlan =>
  defaultPlan === 'premium' ? { plan: 'premium', until: null } : grantedPlanOf(premiumUntil, now)

export const isEndless = ({ plan, until }: CurrentPlan): boolean => plan === 'premium' && until === null

export const planLimits = (plan: Plan): PlanLimits => limits[plan]

/** The limits of the operator for a vendor account; null for those of the plan. */
export interface OwnLimits {
  max_apps: number | null
  max_licenses_per_app: number | null
}

/** The limits of a vendor account: those of the plan, where the operator has set no others. */
export function limitsOf(plan: Plan, own: OwnLimits): PlanLimits {
  const ofPlan = planLimits(plan)
  return {
    ...ofPlan,
    maxApps: own.max_apps ?? ofPlan.maxApps,
    maxLicensesPerApp: own.max_licenses_per_app ?? ofPlan.maxLicensesPerApp,
  }
}

/** Unlimited as null, for responses that use null. */
export const limitOrNull = (limit: number): number | null => (limit === unlimited ? null : limit)

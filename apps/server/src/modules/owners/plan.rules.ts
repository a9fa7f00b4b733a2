import { limits, unlimited } from '@keyward/contract'

export type Plan = 'free' | 'premium'

export interface PlanLimits {
  maxApps: number
  maxLicensesPerApp: number
  maxResellers: number
}

/** After its end date premium falls back to free, and nothing is deleted. */
export const planOf = (premiumUntil: number | null, now: number): Plan =>
  premiumUntil !== null && premiumUntil > now ? 'premium' : 'free'

export const planLimits = (plan: Plan): PlanLimits => limits[plan]

/** Unlimited as null, for responses that use null. */
export const limitOrNull = (limit: number): number | null => (limit === unlimited ? null : limit)

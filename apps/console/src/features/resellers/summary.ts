import type { Reseller } from '@keyward/contract'

export interface ResellerSummary {
  total: number
  /** Licenses that exist, made by any of them. */
  licenses: number
  /** Licenses per reseller, with at most one decimal. */
  average: number
}

export function summarize(resellers: readonly Pick<Reseller, 'created_licenses'>[]): ResellerSummary {
  const licenses = resellers.reduce((sum, reseller) => sum + reseller.created_licenses, 0)
  const average = resellers.length === 0 ? 0 : Math.round((licenses / resellers.length) * 10) / 10
  return { total: resellers.length, licenses, average }
}

export interface LimitPreview {
  limit: number
  used: number
  /** Never negative. */
  remaining: number
  /** The reseller makes no more until some are deleted. */
  belowUsed: boolean
}

/** What a new limit means; undefined while it is no whole number of 0 or more. */
export function previewLimit(limit: number, used: number): LimitPreview | undefined {
  if (!Number.isInteger(limit) || limit < 0) return undefined
  return { limit, used, remaining: Math.max(0, limit - used), belowUsed: limit < used }
}

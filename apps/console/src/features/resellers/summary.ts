export interface ResellerSummary {
  total: number
  /** Licenses that exist, made by any of them. */
  licenses: number
  /** Licenses per reseller, with at most one decimal. */
  average: number
}

export function summarize({ total, licenses }: { total: number; licenses: number }): ResellerSummary {
  const average = total === 0 ? 0 : Math.round((licenses / total) * 10) / 10
  return { total, licenses, average }
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

export interface ResellerSummary {
  total: number
  /** Existing licenses of all resellers. */
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
  /** The reseller cannot create more until some are deleted. */
  belowUsed: boolean
}

/** The effect of a new limit; undefined unless it is an integer of 0 or more. */
export function previewLimit(limit: number, used: number): LimitPreview | undefined {
  if (!Number.isInteger(limit) || limit < 0) return undefined
  return { limit, used, remaining: Math.max(0, limit - used), belowUsed: limit < used }
}

import { day, lastInstant } from '../../core/clock.ts'
import type { GrantRow, LicenseRow } from '../../db/tables.ts'

/** The end of the updates that a license covers; null for all, and before the first use starts the clock. */
export function updatesUntil(
  license:
    | Pick<LicenseRow, 'term' | 'started_at' | 'created_at' | 'updates_for_days' | 'updates_until'>
    | null
    | undefined,
): number | null {
  if (license?.updates_until != null) return license.updates_until
  if (!license || license.updates_for_days === null) return null
  const start = license.term === 'first_use' ? license.started_at : license.created_at
  return start === null ? null : Math.min(lastInstant, start + license.updates_for_days * day)
}

/**
 * The end of updates by the grants that stand, null for all, and the one that further time moves: a single payment moves it,
 * and what else covers later ones counts as it is.
 */
export function updatesOf(
  own: number | null,
  standing: readonly Pick<GrantRow, 'kind' | 'until' | 'updates_ms' | 'updates_until'>[],
): { until: number | null; own: number | null } {
  const untils = (kinds: readonly GrantRow['kind'][]) =>
    standing.flatMap(({ kind, updates_until }) => (kinds.includes(kind) ? (updates_until ?? []) : []))
  // A subscription that has ended covers the versions of its paid time.
  const ended = untils(['end', 'term'])
  const stays = standing.flatMap(({ kind, until, updates_until }) =>
    kind === 'period' && until === null ? (updates_until ?? []) : [],
  )
  const paid = own === null && ended.length === 0 ? stays : ended
  if (own === null && paid.length === 0) return { until: null, own: null }
  const moved = standing.reduce((sum, { updates_ms }) => sum + (updates_ms ?? 0), 0)
  const base = Math.max(own ?? 0, ...paid) + moved
  return { until: Math.min(lastInstant, Math.max(base, ...untils(['time', 'period']))), own: base }
}

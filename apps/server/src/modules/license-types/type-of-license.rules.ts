import { day, lastInstant } from '../../core/clock.ts'
import { addDuration } from '../../core/time-zones.ts'
import { displayedEnd, never, toAccessEnd } from '../../db/stored-end.ts'
import type { LicenseRow, LicenseTypeRow } from '../../db/tables.ts'
import type { Access } from '../entitlements/access.rules.ts'
import { toDuration } from '../entitlements/term.rules.ts'
import type { LicenseTerms } from '../licenses/licenses.rules.ts'
import { termsOf } from './license-types.rules.ts'

/** Which end a license has after its type changes. */
export type TypeEnd = 'later' | 'type' | 'keep'

type Ends = Pick<LicenseTerms, 'term' | 'duration_value' | 'duration_unit' | 'started_at' | 'expires_at'>

export interface Typed {
  columns: LicenseTerms
  /** The end of the license without its added keys, which people see; null for never, undefined if it keeps its own. */
  own: number | null | undefined
  /** Whether the end that added keys hide changes. */
  changesHidden: boolean
}

/** What a license, whose `expires_at` is as of now, is after it takes a type. */
export function takeType(
  license: LicenseRow,
  type: LicenseTypeRow,
  { end, access, now }: { end: TypeEnd; access: Access; now: number },
): Typed {
  const terms = termsOf(type, license.created_at)
  const kept = keptEnds(license, type)
  const own = startedEnds(license, type) ?? { ...terms, started_at: license.started_at }
  const typed = { ...own, expires_at: withAdded(own.expires_at, access.addedMs, type) }
  const withEnds = ({ term, duration_value, duration_unit, started_at, expires_at }: Ends) => ({
    ...terms,
    term,
    duration_value,
    duration_unit,
    started_at,
    expires_at,
  })
  const graceMs = type.grace_days * day
  if (access.isEndless && access.end !== never) {
    // Added keys hide the end: the type changes the one that comes back without them.
    const hidden = access.end + graceMs
    const isKept = end === 'keep' || (end === 'later' && typed.expires_at < hidden)
    return {
      columns: withEnds({ ...(isKept ? kept : typed), expires_at: never }),
      own: isKept ? undefined : ownEnd(typed.expires_at),
      changesHidden: !isKept && typed.expires_at !== hidden,
    }
  }
  const keeps = end === 'keep' || (end === 'later' && lasts(typed) < lasts(kept))
  if (keeps) return { columns: withEnds(kept), own: undefined, changesHidden: false }
  // A past end means that access ends now, as with a date that the owner sets.
  const expires_at = Math.max(typed.expires_at, Math.min(now, kept.expires_at))
  return { columns: withEnds({ ...typed, expires_at }), own: ownEnd(expires_at), changesHidden: false }

  function ownEnd(stored: number): number | null {
    return stored === never ? null : stored - graceMs - access.addedMs
  }

  /** For how long the ends give access; a clock that has not started counts from now. */
  function lasts(ends: Ends): number {
    const duration = toDuration(ends)
    if (ends.term === 'first_use' && ends.started_at === null && duration) return addDuration(now, duration)
    return displayedEnd({ ...ends, grace_days: type.grace_days }, now) ?? Number.POSITIVE_INFINITY
  }
}

const keptEnds = (license: LicenseRow, type: LicenseTypeRow): Ends => ({
  ...license,
  // The same end for people; the grace days after it are the type's.
  expires_at:
    license.expires_at === never ? never : license.expires_at + (type.grace_days - license.grace_days) * day,
})

/** A duration from first use counts from the license's first use, if it has one. */
function startedEnds(license: LicenseRow, type: LicenseTypeRow): Ends | undefined {
  const { term, duration_value, duration_unit, grace_days } = type
  const [duration, start] = [toDuration(type), license.started_at ?? license.used_at]
  if (term !== 'first_use' || duration === null || start === null) return undefined
  const expires_at = toAccessEnd(addDuration(start, duration), grace_days)
  return { term, duration_value, duration_unit, started_at: start, expires_at }
}

const withAdded = (end: number, addedMs: number, { grace_days }: LicenseTypeRow): number =>
  end === never ? never : Math.min(end + addedMs, Math.max(end, lastInstant + grace_days * day))

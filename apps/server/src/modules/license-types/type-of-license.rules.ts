import { day, lastInstant } from '../../core/clock.ts'
import { addDuration } from '../../core/time-zones.ts'
import { never, toShownEnd, toStoredEnd } from '../../db/stored-end.ts'
import type { LicenseRow, LicenseTypeRow } from '../../db/tables.ts'
import { toDuration } from '../entitlements/term.rules.ts'
import type { AddedTime, TypedColumns } from '../entitlements/type-change.ts'
import { termsOf } from './license-types.rules.ts'

/** Which end a license has after its type changes. */
export type TypeEnd = 'later' | 'type' | 'keep'

type Ends = Pick<TypedColumns, 'term' | 'duration_value' | 'duration_unit' | 'started_at' | 'expires_at'>

export interface Typed {
  columns: TypedColumns
  /** The end behind one that added keys removed, if it changes; `never` if they remove none any more. */
  hiddenEnd: number | null
}

/** What a license, whose end the caller has moved past pauses, is after it takes a type. */
export function takeType(
  license: LicenseRow,
  type: LicenseTypeRow,
  { end, added, now }: { end: TypeEnd; added: AddedTime; now: number },
): Typed {
  const terms = termsOf(type, license.created_at)
  const kept = keptEnds(license, type)
  const own = startedEnds(license, type) ?? { ...terms, started_at: license.started_at }
  const typed = { ...own, expires_at: withAdded(own.expires_at, added.ms, type) }
  const withEnds = ({ term, duration_value, duration_unit, started_at, expires_at }: Ends) => ({
    ...terms,
    term,
    duration_value,
    duration_unit,
    started_at,
    expires_at,
  })
  if (added.hiddenEnd !== null) return behind(added.hiddenEnd)
  const keeps = end === 'keep' || (end === 'later' && lasts(typed) < lasts(kept))
  if (keeps) return { columns: withEnds(kept), hiddenEnd: null }
  // A past end means that access ends now, as with a date that the owner sets.
  const notBefore = Math.min(now, kept.expires_at)
  return {
    columns: withEnds({ ...typed, expires_at: Math.max(typed.expires_at, notBefore) }),
    hiddenEnd: null,
  }

  /** Added keys removed the end: the type changes the one that comes back without them. */
  function behind(hidden: number): Typed {
    const current = withGrace(hidden, license, type)
    const isKept = end === 'keep' || (end === 'later' && typed.expires_at < current)
    const next = isKept ? current : typed.expires_at
    const columns = withEnds({ ...(isKept ? kept : typed), expires_at: never })
    return { columns, hiddenEnd: next === hidden ? null : next }
  }

  /** For how long the ends give access; a clock that has not started counts from now. */
  function lasts(ends: Ends): number {
    const duration = toDuration(ends)
    if (ends.term === 'first_use' && ends.started_at === null && duration) return addDuration(now, duration)
    return toShownEnd({ ...ends, grace_days: type.grace_days }) ?? Number.POSITIVE_INFINITY
  }
}

/** The same end for people; the grace days after it are the type's. */
const withGrace = (end: number, license: LicenseRow, type: LicenseTypeRow): number =>
  end === never ? never : end + (type.grace_days - license.grace_days) * day

const keptEnds = (license: LicenseRow, type: LicenseTypeRow): Ends => ({
  ...license,
  expires_at: withGrace(license.expires_at, license, type),
})

/** A duration from first use counts from the license's first use, if it has one. */
function startedEnds(license: LicenseRow, type: LicenseTypeRow): Ends | undefined {
  const { term, duration_value, duration_unit, grace_days } = type
  const [duration, start] = [toDuration(type), license.started_at ?? license.used_at]
  if (term !== 'first_use' || duration === null || start === null) return undefined
  const expires_at = toStoredEnd(addDuration(start, duration), grace_days)
  return { term, duration_value, duration_unit, started_at: start, expires_at }
}

const withAdded = (end: number, addedMs: number, { grace_days }: LicenseTypeRow): number =>
  end === never ? never : Math.min(end + addedMs, Math.max(end, lastInstant + grace_days * day))

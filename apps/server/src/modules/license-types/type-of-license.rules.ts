import { addDuration } from '../../core/clock.ts'
import { accessEnd, displayedEnd, never } from '../../db/stored-end.ts'
import type { LicenseRow, LicenseTypeRow } from '../../db/tables.ts'
import {
  type Access,
  accessOf,
  firstUseEnd,
  type Grant,
  ownEnd,
  type Terms,
  termColumns,
} from '../entitlements/access.rules.ts'
import { atLeast, withPayments } from '../entitlements/grants.changes.ts'
import { type Holder, ownOf, toGrant } from '../entitlements/grants.ts'
import { toDuration } from '../entitlements/terms.rules.ts'
import type { LicenseTerms } from '../licenses/licenses.rules.ts'
import { termsOf } from './license-types.rules.ts'

/** Which end a license has after its type changes. */
export type TypeEnd = 'later' | 'type' | 'keep'

export interface Typed {
  columns: LicenseTerms
  /** The term that is granted, or an end beside payments that hide it, null for never; undefined if the license keeps its own. */
  granted: (Pick<Grant, 'kind' | 'until'> & Partial<Pick<Grant, 'terms'>>) | undefined
  /** Whether an end changes that added keys or payments hide. */
  changesHidden: boolean
}

/** What a license is after it takes a type. */
export function takeType(
  license: LicenseRow,
  type: LicenseTypeRow,
  { end, holder, now }: { end: TypeEnd; holder: Pick<Holder, 'license' | 'client' | 'grants'>; now: number },
): Typed {
  const { expires_at, ...terms } = termsOf(type, license.created_at)
  const own = { ...ownOf(holder), graceDays: type.grace_days }
  const kept = accessOf(own, holder.grants)
  const started_at = startOf(license, type)
  const withEnd = (until: number, grants = holder.grants) => {
    const granted = {
      ...({ kind: 'term', until: until === never ? null : until } as const),
      terms: JSON.stringify(termColumns(terms)),
    }
    const grant = toGrant({ source_kind: 'key', source_id: null, ...granted }, now)
    return { granted, access: accessOf({ ...own, startedAt: started_at }, [...grants, grant]) }
  }
  const until =
    started_at !== null && terms.term === 'first_use'
      ? firstUseEnd(terms, started_at)
      : (displayedEnd({ expires_at, grace_days: type.grace_days }, now) ?? never)
  const typed = withEnd(until)
  const columnsOf = (access: Access, started_at: number | null): LicenseTerms => ({
    ...terms,
    ...termColumns(access.terms ?? terms),
    started_at,
    expires_at: accessEnd(access, now),
  })
  const [lasts, lasted] = [lastsOf(typed.access, started_at), lastsOf(kept, license.started_at)]
  if (end === 'keep' || (end === 'later' && lasts < lasted)) {
    const unpaid = lastsOf(withEnd(until, withPayments(holder.grants, now)).access, started_at)
    const granted = end === 'later' ? atLeast(holder, unpaid === never ? null : unpaid, now) : undefined
    return { columns: columnsOf(kept, license.started_at), granted, changesHidden: granted !== undefined }
  }
  // A past end means that access ends now, as with a date that the owner sets.
  const missing = Math.min(now, accessEnd(kept, now)) - accessEnd(typed.access, now)
  const { granted, access } = missing > 0 ? withEnd(until + missing) : typed
  const isHidden = access.periods.length > 0 || (access.isEndless && kept.end !== never)
  const changesHidden = isHidden && ownEnd(access, now) !== ownEnd(kept, now)
  return { columns: columnsOf(access, started_at), granted, changesHidden }

  /** The end that the type moves; a clock that has not started counts from now. */
  function lastsOf(access: Access, startedAt: number | null): number {
    const { terms } = access
    const duration = terms && startedAt === null && terms.term === 'first_use' ? toDuration(terms) : null
    return duration ? addDuration(now, duration) : (ownEnd(access, now) ?? never)
  }
}

/** A duration from first use counts from the license's first use, if it has one. */
const startOf = ({ started_at, used_at }: LicenseRow, { term }: Pick<Terms, 'term'>): number | null =>
  term === 'first_use' ? (started_at ?? used_at) : started_at

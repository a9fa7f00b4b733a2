// What an order gives may begin after what others gave. Once that was taken back, it begins earlier.
import { never } from '../../db/stored-end.ts'
import type { GrantRow } from '../../db/tables.ts'
import { type AddedRights, allowsAll, type Rights } from './terms.rules.ts'

type Given = Pick<
  GrantRow,
  'id' | 'kind' | 'at' | 'until' | 'gap_ms' | 'terms' | 'source_kind' | 'withdrawn_at'
>

/** Periods that stand, of the grants before one. A period that was paid again since comes later by its time. */
function periodsBefore(grant: Given, grants: readonly Given[]): Given[] {
  const before = grants.slice(0, grants.indexOf(grant))
  return before.filter(({ kind, withdrawn_at }) => kind === 'period' && withdrawn_at === null)
}

/** Where time begins at the earliest, which a person may have meant; `periods` are those of before, as they are then. */
export function beginOf(
  grant: Given,
  grants: readonly Given[],
  periods: readonly { id: string; until: number }[],
): GrantRow['until'] {
  const { at, until } = grant
  if (until === null || grant.source_kind === 'person' || grants.every(({ kind }) => kind !== 'period'))
    return until
  const ends = periodsBefore(grant, grants).map(
    (before) => periods.find(({ id }) => id === before.id)?.until ?? before.until ?? never,
  )
  return Math.min(until, Math.max(at, ...ends))
}

/** The end of a period that began after what allows the same; `rights` are those of before, as they are then. */
export function periodEnd(
  grant: Given,
  grants: readonly Given[],
  rights: readonly AddedRights[],
): GrantRow['until'] {
  const { at, until, gap_ms, terms } = grant
  if (until === null || gap_ms === 0 || terms === null) return until
  const type: Rights = JSON.parse(terms)
  const paidAgain = periodsBefore(grant, grants).flatMap((before) =>
    before.at > at && before.terms !== null
      ? { ...(JSON.parse(before.terms) as Rights), until: before.until }
      : [],
  )
  const same = [...rights, ...paidAgain].filter((one) => allowsAll(one, type))
  const begin = Math.max(at, ...same.map((one) => one.until ?? at))
  return until - Math.max(0, at + gap_ms - begin)
}

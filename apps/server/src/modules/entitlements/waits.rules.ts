// What an order gives may begin after what others gave. Once that was taken back, it begins earlier.
import { never } from '../../db/stored-end.ts'
import type { GrantRow } from '../../db/tables.ts'
import { type AddedRights, allowsAll, type Rights } from './terms.rules.ts'

type Given = Pick<
  GrantRow,
  'id' | 'kind' | 'at' | 'until' | 'moved_ms' | 'gap_ms' | 'terms' | 'source_kind' | 'withdrawn_at'
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

/**
 * The end of a period that begins after what allows the same; `rights` are those of before, as they are then. Only a single
 * payment, which has its time in `moved_ms`, waits for what came back after it was bought.
 */
export function periodEnd(
  grant: Given,
  grants: readonly Given[],
  rights: readonly AddedRights[],
): GrantRow['until'] {
  const { at, until, moved_ms, gap_ms, terms } = grant
  if (until === null || terms === null) return until
  const type: Rights = JSON.parse(terms)
  const paidAgain = periodsBefore(grant, grants).flatMap((before) =>
    before.at > at && before.terms !== null && allowsAll(JSON.parse(before.terms) as Rights, type)
      ? Math.min(at + gap_ms, before.until ?? at)
      : [],
  )
  const same = rights.flatMap((one) => (allowsAll(one, type) ? (one.until ?? at) : []))
  const laterMs = Math.max(at, ...same, ...paidAgain) - (at + gap_ms)
  return until + (moved_ms ? laterMs : Math.min(0, laterMs))
}

// What an order gives may begin after what others gave. Once that was taken back, it begins earlier.
import { never } from '../../db/stored-end.ts'
import type { GrantRow } from '../../db/tables.ts'
import { type AddedRights, allowsAll, type Rights } from './terms.rules.ts'

type Given = Pick<
  GrantRow,
  | 'id'
  | 'kind'
  | 'at'
  | 'until'
  | 'moved_ms'
  | 'gap_ms'
  | 'terms'
  | 'source_kind'
  | 'withdrawn_at'
  | 'rights_until'
> & { key: Rights | null }

/** What a grant allows besides time. */
const allowedBy = ({ key, terms }: Given): Rights | null => key ?? JSON.parse(terms ?? 'null')

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

const isLost = ({ source_kind, withdrawn_at }: Given) => source_kind === 'order' && withdrawn_at !== null

/**
 * Until when time of an added key or a payment allows what it does. It began after what allows the same, and earlier once an
 * order of that was taken back: `rights` are those of before, as they are then. A key that was taken back counts as used.
 */
export function rightsUntil(
  grant: Given,
  grants: readonly Given[],
  rights: readonly AddedRights[],
): GrantRow['rights_until'] {
  const { at, until, moved_ms, rights_until } = grant
  const allowed = allowedBy(grant)
  // Joined time has no begin.
  if (rights_until === null || until === null || !allowed || !grants.some(isLost)) return rights_until
  const same = grants.slice(0, grants.indexOf(grant)).filter((before) => {
    const other = before.kind === 'term' ? null : allowedBy(before)
    return other !== null && allowsAll(other, allowed)
  })
  if (!same.some(isLost)) return rights_until
  const standing = new Map(rights.map((one) => [one.grant, one]))
  const ends = same.flatMap((one) =>
    isLost(one) ? [] : ((standing.get(one.id) ?? { until: one.rights_until ?? one.until }).until ?? []),
  )
  // Time that moved no end says where its rights begin.
  return Math.min(rights_until, Math.max(at, ...ends) + (moved_ms || rights_until - until))
}

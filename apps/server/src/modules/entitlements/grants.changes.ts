import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import { isIn, type Tx, type WriteTransaction } from '../../db/index.ts'
import { displayedEnd, never } from '../../db/stored-end.ts'
import type { GrantRow, LicenseRow } from '../../db/tables.ts'
import {
  type Access,
  accessOf,
  earliestBegin,
  type Grant,
  isOfKey,
  isOfPayment,
  ownEnd,
  rightsFrom,
} from './access.rules.ts'
import { type Change, changeAccess, type Holder, type NewGrant, ownOf } from './grants.ts'
import { timeLeft } from './terms.rules.ts'

type Source = Pick<GrantRow, 'source_kind' | 'source_id'>
type Write = Pick<WriteTransaction, 'tx' | 'now'>

/** The end that further time moves: the one that people see, else the own one, which a period without end hides. */
export const endToMove = (access: Access, now: number): number | null =>
  displayedEnd(access, now) ?? (access.isEndless ? null : ownEnd(access, now))

/** Time that moves the end of a holder to a later one; none for a holder that never ends. */
export function timeUntil({ access }: Holder, next: number, now: number, source: Source): NewGrant {
  const from = Math.max(endToMove(access, now) ?? now, now)
  const gap_ms = from - (ownEnd(access, now) ?? from)
  return { kind: 'time', gap_ms, moved_ms: next - from, until: earliestBegin(access, now), ...source }
}

/** An end that replaces all that was granted before; one that has passed means that access ends now. Null is never. */
export function endNow({ access }: Holder, end: number | null, now: number, source: Source): NewGrant {
  const earliest = now - access.grace_days * day
  return { kind: 'end', until: end === null ? null : Math.max(end, earliest), ...source }
}

/** Grants as they are once all payments are taken back at a time, or if all of them stand (null). */
export const withPayments = (grants: readonly Grant[], withdrawn_at: number | null): Grant[] =>
  grants.map((one) => (isOfPayment(one) ? { ...one, withdrawn_at } : one))

/** An end that payments hide, as a period beside them. Nothing if it would not count once they are taken back. */
export function atLeast(
  holder: Pick<Holder, 'license' | 'client' | 'grants'>,
  until: number | null,
  now: number,
): Pick<Grant, 'kind' | 'until'> | undefined {
  if (!holder.grants.some((one) => isOfPayment(one) && one.withdrawn_at === null)) return undefined
  const without = displayedEnd(accessOf(ownOf(holder), withPayments(holder.grants, now)), now) ?? never
  return (until ?? never) > without ? { kind: 'period', until } : undefined
}

/** What there would be if all payments stood: a dispute may be won. What waits for one waits no longer than it stands. */
export const ifReturned = (holder: Pick<Holder, 'license' | 'client' | 'grants'>): Access =>
  accessOf(ownOf(holder), withPayments(holder.grants, null))

/** The time and the rights of a key that is added to an end user. */
export function timeOfKey(holder: Holder, key: LicenseRow, now: number): NewGrant {
  const { access } = holder
  const returned = ifReturned(holder)
  const left = timeLeft(key, now)
  const end = endToMove(access, now)
  const begin = rightsFrom(returned, key, now)
  return {
    ...{ kind: 'time', source_kind: 'key', source_id: key.id, key },
    moved_ms: end === null ? 0 : left,
    // It waits for what lasts beside the end, and no longer than that stands.
    gap_ms: end === null ? 0 : Math.max(0, now - (ownEnd(access, now) ?? now)),
    until: end === null ? begin : earliestBegin(returned, now),
    rights_until: left === null ? null : begin + left,
  }
}

/** Pauses or resumes a holder. */
export function pausedFrom(holder: Holder, isPaused: boolean, now: number, source: Source): Change {
  if (isPaused) return { added: [{ kind: 'pause', ...source }] }
  const open = holder.grants.filter(({ kind, until }) => kind === 'pause' && until === null)
  return { changed: open.map((grant) => ({ ...grant, until: now })) }
}

/** When access ends without keys that never end and without periods, grace days included. */
const endWithout = (access: Access, now: number): number =>
  (ownEnd(access, now) ?? never) + access.grace_days * day

/** Withdraws the time of added keys: what was used of it stays. */
export function withoutKeys(
  holder: Holder,
  keys: ReadonlySet<string>,
  now: number,
  /** The most time that may be taken, by the id of a key. */
  most: ReadonlyMap<string, number> = new Map(),
): Change {
  const named = holder.grants.filter(
    (grant) => isOfKey(grant) && grant.withdrawn_at === null && keys.has(grant.source_id ?? ''),
  )
  // Keys without end come first: the others then change the end that they had hidden.
  const sorted = named.toSorted((a, b) => Number(a.moved_ms !== null) - Number(b.moved_ms !== null))
  const changed: Grant[] = []
  let { access, grants } = holder
  for (const grant of sorted) {
    const without = { ...grant, withdrawn_at: now, kept_ms: grant.kept_ms ?? 0 }
    grants = grants.map((one) => (one.id === grant.id ? without : one))
    const after = accessOf(ownOf(holder), grants)
    const hasEnd = access.end !== never
    if (grant.moved_ms === null) {
      const end = endWithout(after, now)
      if (hasEnd && !after.isEndless) without.kept_ms += Math.max(0, now - end)
    } else {
      const left = Math.max(0, endWithout(access, now) - now)
      const taken = hasEnd ? Math.min(grant.moved_ms, left, most.get(grant.source_id ?? '') ?? left) : 0
      without.kept_ms = grant.moved_ms - taken
    }
    access = accessOf(ownOf(holder), grants)
    changed.push(without)
  }
  return { changed }
}

type Key = Pick<LicenseRow, 'id' | 'client_id'>

/** Takes back what added keys gave, when they are banned or deleted. The caller has locked them. */
export async function withdrawKeys(write: Write, scope: OwnerScope, keys: readonly Key[]): Promise<void> {
  const standing = (await newestOf(write.tx, keys)).filter((grant) => grant.withdrawn_at === null)
  const ids = new Set(standing.map(({ source_id }) => source_id ?? ''))
  await changeAccess(write, scope, holdersOf(standing), (holder) => withoutKeys(holder, ids, write.now))
}

/** The grant of an added key whose ban is lifted. */
export const returned = (grant: Grant): Grant => ({
  ...grant,
  withdrawn_at: null,
  kept_ms: grant.moved_ms === null ? grant.kept_ms : null,
})

/** Gives back what bans of added keys took, when they are lifted. The caller has locked the keys. */
export async function returnKeys(write: Write, scope: OwnerScope, keys: readonly Key[]): Promise<void> {
  const used = keys.filter(({ client_id }) => client_id !== null)
  const withdrawn = (await newestOf(write.tx, used)).filter((grant) => grant.withdrawn_at !== null)
  const ids = new Set(withdrawn.map(({ id }) => id))
  await changeAccess(write, scope, holdersOf(withdrawn), ({ grants }) => ({
    changed: grants.filter(({ id }) => ids.has(id)).map(returned),
  }))
}

/** The grant of each added key: a key that was freed may have been added again. */
async function newestOf(tx: Tx, keys: readonly Key[]) {
  const ids = keys.map(({ id }) => id)
  if (ids.length === 0) return []
  const rows = await tx
    .selectFrom('grants')
    .select(['id', 'source_id', 'license_id', 'client_id', 'withdrawn_at'])
    // Written out, because the index is partial.
    .where('source_kind', '=', sql.lit('key'))
    .where('kind', '=', sql.lit('time'))
    .where(isIn(tx, 'source_id', ids))
    .orderBy('seq')
    .execute()
  return [...new Map(rows.map((row) => [row.source_id, row])).values()]
}

const holdersOf = (rows: readonly Pick<GrantRow, 'license_id' | 'client_id'>[]) => ({
  licenses: [...new Set(rows.flatMap(({ license_id }) => license_id ?? []))],
  clients: [...new Set(rows.flatMap(({ client_id }) => client_id ?? []))],
})

/** Whether nothing has changed since a grant was written. */
export function isAsLeft({ grants }: Holder, grant: Grant): boolean {
  if (grant.withdrawn_at !== null) return false
  const at = grants.findIndex(({ id }) => id === grant.id)
  const isUnchanged = grants
    .slice(0, at)
    .every((one) => Math.max(one.withdrawn_at ?? 0, one.kind === 'pause' ? (one.until ?? 0) : 0) <= grant.at)
  // What was taken back is as if it had never been granted.
  return isUnchanged && grants.slice(at + 1).every((one) => one.withdrawn_at !== null && one.kept_ms === null)
}

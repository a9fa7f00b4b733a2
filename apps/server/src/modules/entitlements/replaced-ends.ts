import { isDeepStrictEqual } from 'node:util'
import { limits, type UndoRow } from '@keyward/contract'
import type { OwnerScope } from '../../core/actor.ts'
import { foundInScope, isIn, type Tx } from '../../db/index.ts'
import { toStoredEnd } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { forgetAddedTime } from './added-time.ts'

// A new end of a license or an end user can replace the term of its license and what keys gave that were added to the end
// user. An undo gets both back.

type EndChange = NonNullable<UndoRow['end']>
type Terms = NonNullable<EndChange['terms']>['before']
type Added = NonNullable<EndChange['added']>[number]

/** What a new end replaces besides the end. */
export interface Replaceable {
  /** The license that has the end; undefined for an end user without one. */
  license: Pick<LicenseRow, 'id' | 'started_at'> | undefined
  terms: Terms | undefined
  /** The end user that has the end. */
  clientId: string | null
  added: Added[]
}

type Replaceables = ReadonlyMap<string, Replaceable>

/** By the ids of licenses. */
export async function replaceableOfLicenses(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
): Promise<Replaceables> {
  const rows = await withFirstUsers(tx)
    .where(isIn(tx, 'l.id', ids))
    .where(foundInScope(scope, 'l'))
    .execute()
  const added = await addedTo(
    tx,
    scope,
    rows.flatMap(({ client_id }) => client_id ?? []),
  )
  return new Map(rows.map((row) => [row.id, toReplaceable(row.client_id, row, added)]))
}

/** By the ids of end users. */
export async function replaceableOfEndUsers(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
): Promise<Replaceables> {
  const rows = await withFirstUsers(tx)
    .where(isIn(tx, 'c.id', ids))
    .where(foundInScope(scope, 'l'))
    .execute()
  const added = await addedTo(tx, scope, ids)
  const licenses = new Map(rows.map((row) => [row.client_id, row]))
  return new Map(ids.map((id) => [id, toReplaceable(id, licenses.get(id), added)]))
}

const withFirstUsers = (tx: Tx) =>
  tx
    .selectFrom('licenses as l')
    .leftJoin('clients as c', (join) =>
      join.onRef('c.id', '=', 'l.client_id').onRef('c.license_id', '=', 'l.id'),
    )
    .select(['l.id', 'l.term', 'l.duration_value', 'l.duration_unit', 'l.started_at', 'c.id as client_id'])

type Found = Awaited<ReturnType<ReturnType<typeof withFirstUsers>['execute']>>[number]

async function addedTo(tx: Tx, scope: OwnerScope, clientIds: readonly string[]) {
  if (clientIds.length === 0) return new Map<string | null, Added[]>()
  const keys = await tx
    .selectFrom('licenses')
    .select(['id', 'client_id', 'added_ms', 'taken_ms'])
    .where(isIn(tx, 'client_id', clientIds))
    .where('added_ms', 'is not', null)
    .where(foundInScope(scope, 'licenses'))
    .orderBy('id')
    .execute()
  const byUser = Map.groupBy(keys, ({ client_id }) => client_id)
  return new Map(
    [...byUser].map(([id, ofUser]) => [
      id,
      ofUser.map((key) => ({ _id: key.id, addedMs: Number(key.added_ms), takenMs: key.taken_ms })),
    ]),
  )
}

const toReplaceable = (
  clientId: string | null,
  license: Found | undefined,
  added: ReadonlyMap<string | null, Added[]>,
): Replaceable => ({
  license,
  terms: license && {
    term: license.term,
    duration:
      license.duration_value === null || license.duration_unit === null
        ? null
        : { value: license.duration_value, unit: license.duration_unit },
  },
  clientId,
  added: clientId === null ? [] : (added.get(clientId) ?? []),
})

/** What an undo needs besides the ends; undefined if there is more than it may hold. */
export function toReplaced(
  before: Replaceable | undefined,
  after: Replaceable | undefined,
): Pick<EndChange, 'terms' | 'added'> | undefined {
  if (!before || !after) return {}
  if (before.added.length > limits.undoAddedMax) return undefined
  const { terms, added } = before
  return {
    ...(terms &&
      after.terms &&
      !isDeepStrictEqual(terms, after.terms) && {
        terms: { before: terms, after: after.terms },
      }),
    ...(!isDeepStrictEqual(added, after.added) && { added }),
  }
}

/** Whether a row is as a new end left it, and its former term can have its former end. */
export function isAsReplaced(row: Replaceable | undefined, { before, terms, added }: EndChange): boolean {
  if (!row) return terms === undefined && added === undefined
  if (terms) {
    if (!isDeepStrictEqual(row.terms, terms.after)) return false
    const isStarted = row.license?.started_at != null
    if (terms.before.term === 'first_use' && isStarted === (before === null)) return false
  }
  if (!added) return true
  const forgotten = added.map(({ _id, takenMs }) => ({
    _id,
    addedMs: 0,
    takenMs: takenMs === null ? null : 0,
  }))
  return isDeepStrictEqual(
    row.added,
    forgotten.toSorted((a, b) => (a._id < b._id ? -1 : 1)),
  )
}

/** Gives rows back what a new end replaced. The caller has compared them by `isAsReplaced`. */
export async function restoreReplaced(
  tx: Tx,
  scope: OwnerScope,
  rows: readonly { license: string | undefined; end: EndChange }[],
): Promise<void> {
  const termed = rows.flatMap(({ license, end: { terms } }) => (terms && license ? [{ license, terms }] : []))
  for (const group of Map.groupBy(termed, ({ terms }) => JSON.stringify(terms.before)).values()) {
    const { term, duration } = (group[0] as (typeof termed)[number]).terms.before
    await tx
      .updateTable('licenses')
      .set({ term, duration_value: duration?.value ?? null, duration_unit: duration?.unit ?? null })
      .where(
        'id',
        'in',
        group.map(({ license }) => license),
      )
      .where(foundInScope(scope, 'licenses'))
      .execute()
  }
  for (const { _id, addedMs, takenMs } of rows.flatMap(({ end }) => end.added ?? [])) {
    await tx
      .updateTable('licenses')
      .set({ added_ms: addedMs, taken_ms: takenMs })
      .where('id', '=', _id)
      .where(foundInScope(scope, 'licenses'))
      .execute()
  }
}

/** Keys that were added to the end users of these rows no longer count. */
export async function forgetAddedTo(tx: Tx, scope: OwnerScope, rows: readonly Replaceable[]): Promise<void> {
  const users = rows.filter(({ added }) => added.length > 0).flatMap(({ clientId }) => clientId ?? [])
  if (users.length > 0) await forgetAddedTime(tx, scope, users)
}

/** The rows of an undo whose ends are set back, with their licenses. */
export const restoredOf = (
  undo: readonly UndoRow[],
  ends: ReadonlyMap<string, number>,
  replaceable: Replaceables,
) =>
  undo.flatMap(({ _id, end }) =>
    end && ends.has(_id) ? [{ license: replaceable.get(_id)?.license?.id, end }] : [],
  )

interface Ending {
  id: string
  expires_at: number
  grace_days: number
}

/** The ends that a date gives to those of the rows that it changes; null for never. */
export function endsByDate(
  rows: readonly Ending[],
  replaceable: Replaceables,
  { end, shorten, now }: { end: number | null; shorten: boolean; now: number },
): Map<string, number> {
  const ends = new Map<string, number>()
  for (const row of rows) {
    const after = Math.max(toStoredEnd(end, row.grace_days), now)
    const { terms, license } = replaceable.get(row.id) ?? {}
    const isWaiting = terms?.term === 'first_use' && license?.started_at == null
    const isLater = after > row.expires_at || (isWaiting && end === null)
    if (isLater || (shorten && after < row.expires_at)) ends.set(row.id, after)
  }
  return ends
}

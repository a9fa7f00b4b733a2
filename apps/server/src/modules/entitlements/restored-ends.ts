import type { UndoRow } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { toEpochMs, toIsoOrNull } from '../../core/clock.ts'
import { foundInScope, type Tx } from '../../db/index.ts'
import { never, toShownEnd, toStoredEnd } from '../../db/stored-end.ts'
import { withEnd } from './end-columns.ts'
import { copyEndsToUsers } from './entitlements.service.ts'

// Changing many ends tells what it did to each; undoing sets an end back only while the row is as the change left it.

interface Ended {
  id: string
  expires_at: number
  grace_days: number
  paused_at: number | null
}

type EndChange = NonNullable<UndoRow['end']>

/** What an extension or a new end did to a row; undefined if it ends as before, with the same term. */
export function toEndChange(
  before: Ended,
  after: Ended,
  replaced: Pick<EndChange, 'terms' | 'added'> | undefined = {},
): EndChange | undefined {
  const [from, to] = [toShownEnd(before), toShownEnd(after)]
  if (replaced === undefined || (from === to && replaced.terms === undefined)) return undefined
  return {
    before: toIsoOrNull(from),
    after: toIsoOrNull(to),
    pausedAt: toIsoOrNull(after.paused_at),
    ...replaced,
  }
}

/** The end that a row had before a change; undefined if it has changed since. */
export function formerEnd(row: Ended, { before, after, pausedAt }: EndChange): number | undefined {
  if ((row.paused_at === null) !== (pausedAt === null)) return undefined
  const moved = row.paused_at === null || pausedAt === null ? 0 : row.paused_at - toEpochMs(pausedAt)
  const left = after === null ? null : toEpochMs(after) + movedEnd(after, row, pausedAt, moved)
  if (toShownEnd(row) !== left) return undefined
  if (before === null) return never
  return toStoredEnd(toEpochMs(before) + movedEnd(before, row, pausedAt, moved), row.grace_days)
}

/** Housekeeping moves the start and the end of a pause together. An end before the pause does not move. */
function movedEnd(end: string, { grace_days }: Ended, pausedAt: string | null, moved: number): number {
  const isOver = pausedAt !== null && toStoredEnd(toEpochMs(end), grace_days) <= toEpochMs(pausedAt)
  return isOver ? 0 : moved
}

export type Ends = ReadonlyMap<string, number>

/** How an end counts: `by-date` also sets the license's term, as a date that the owner sets. */
type Kind = 'kept-term' | 'by-date'

/** Sets the ends of licenses, and of the end users whose first licenses they are. */
export async function setLicenseEnds(
  tx: Tx,
  scope: OwnerScope,
  ends: Ends,
  kind: Kind = 'kept-term',
): Promise<void> {
  if (ends.size === 0) return
  const ids = [...ends.keys()]
  await tx
    .updateTable('licenses')
    .set(columnsOf('id', ends, kind))
    .where('id', 'in', ids)
    .where(foundInScope(scope, 'licenses'))
    .execute()
  await copyEndsToUsers(tx, scope, ids)
}

/** Sets the ends of end users, and of their first licenses. */
export async function setEndUserEnds(
  tx: Tx,
  scope: OwnerScope,
  ends: Ends,
  kind: Kind = 'kept-term',
): Promise<void> {
  if (ends.size === 0) return
  const ids = [...ends.keys()]
  // Licenses first, so that their counts are locked before those of end users.
  await tx
    .updateTable('licenses')
    .set(columnsOf('client_id', ends, kind))
    .where('client_id', 'in', ids)
    .where(foundInScope(scope, 'licenses'))
    .where(sql<boolean>`id in (select c.license_id from clients c where c.id = licenses.client_id)`)
    .execute()
  await tx
    .updateTable('clients')
    .set({ expires_at: byId(sql.ref('id'), ends) })
    .where('id', 'in', ids)
    .where(foundInScope(scope, 'clients'))
    .execute()
}

function columnsOf(id: 'id' | 'client_id', ends: Ends, kind: Kind) {
  const expires_at = byId(sql.ref(id), ends)
  const [end] = ends.values()
  return kind === 'by-date' && end !== undefined ? { ...withEnd(end), expires_at } : { expires_at }
}

function byId(id: ReturnType<typeof sql.ref>, ends: Ends) {
  const cases = [...ends].map(([key, end]) => sql`when ${key} then ${sql.lit(end)}`)
  return sql<number>`case ${id} ${sql.join(cases, sql` `)} end`
}

import type { UndoRow } from '@keyward/contract'

export type Ban = NonNullable<UndoRow['ban']>['before']

export interface Bannable {
  id: string
  banned: 0 | 1
  ban_reason: string | null
}

export interface Skipped {
  _id: string
  reason: 'missing' | 'changed'
}

const banOf = (row: Bannable): Ban => ({ banned: row.banned === 1, reason: row.ban_reason })

/** What banning or unbanning did to a row. */
export const toBanChange = (row: Bannable, after: Ban): UndoRow => ({
  _id: row.id,
  ban: { before: banOf(row), after },
})

/** The ban that a row had before a change; undefined if it has changed since. */
export function formerBan(row: Bannable, { before, after }: NonNullable<UndoRow['ban']>): Ban | undefined {
  const now = banOf(row)
  const isAsLeft = now.banned === after.banned && now.reason === (after.reason || null)
  return isAsLeft
    ? { banned: before.banned, reason: before.banned ? before.reason || null : null }
    : undefined
}

/** Divides the rows of an undo into those that are as the change left them, as `undone` says of ends, and the others. */
export function divide<Row extends Bannable, End>(
  undo: readonly UndoRow[],
  rows: ReadonlyMap<string, Row>,
  undone: ReadonlyMap<string, End>,
) {
  const ends = new Map<string, End>()
  const bans = new Map<string, Ban>()
  const skipped: Skipped[] = []
  for (const change of new Map(undo.map((one) => [one._id, one])).values()) {
    const row = rows.get(change._id)
    const end = row && change.end && undone.get(change._id)
    const ban = row && change.ban && formerBan(row, change.ban)
    if (end !== undefined) ends.set(change._id, end)
    else if (ban !== undefined) bans.set(change._id, ban)
    else skipped.push({ _id: change._id, reason: row ? 'changed' : 'missing' })
  }
  return { ends, bans, skipped }
}

/** The ids for each former ban, so that those with the same reason are changed together. */
export function byBan(bans: ReadonlyMap<string, Ban>) {
  const groups = Map.groupBy(bans, ([, ban]) => JSON.stringify([ban.banned, ban.reason]))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    return first ? [{ ...first[1], ids: group.map(([id]) => id) }] : []
  })
}

import type { Duration, UndoRow } from '@keyward/contract'
import type { OwnerScope } from '../../core/actor.ts'
import { toEpochMs } from '../../core/clock.ts'
import { addDuration } from '../../core/time-zones.ts'
import type { Tx } from '../../db/index.ts'
import { toShownEnd, toStoredEnd } from '../../db/stored-end.ts'
import { extendEndUsers, extendLicenses } from './entitlements.service.ts'
import {
  endsByDate,
  forgetAddedTo,
  type Replaceable,
  replaceableOfEndUsers,
  replaceableOfLicenses,
  toReplaced,
} from './replaced-ends.ts'
import { setEndUserEnds, setLicenseEnds, toEndChange } from './restored-ends.ts'

// Gives many licenses or end users more time, or one end.

/** Exactly one of `days`, `duration` and `expiresAt`. */
export interface Extension {
  /** Each has 24 hours. */
  days?: number | undefined
  /** Counts in the calendar of `timeZone`, or of UTC. */
  duration?: Duration | undefined
  timeZone?: string | undefined
  /** Null for never. What ends later stays as it is, unless `shorten` is true. */
  expiresAt?: string | null | undefined
  shorten?: boolean | undefined
}

interface Ended {
  id: string
  expires_at: number
  grace_days: number
  paused_at: number | null
}

interface Extended {
  changed: string[]
  /** What undoes it, from the rows after it. */
  undoOf: (after: readonly Ended[]) => Promise<UndoRow[]>
}

interface Replacement {
  noun: keyof typeof statements
  rows: readonly Ended[]
  before: ReadonlyMap<string, Replaceable>
  after: readonly Ended[]
}

const statements = {
  licenses: { extend: extendLicenses, setEnds: setLicenseEnds, replaceable: replaceableOfLicenses },
  clients: { extend: extendEndUsers, setEnds: setEndUserEnds, replaceable: replaceableOfEndUsers },
}

/** Extends rows that the caller has locked, and whose pauses it has moved. */
export async function extendAll(
  tx: Tx,
  scope: OwnerScope,
  {
    noun,
    rows,
    extension,
    now,
  }: { noun: keyof typeof statements; rows: readonly Ended[]; extension: Extension; now: number },
): Promise<Extended> {
  const { days, duration, timeZone = 'UTC', expiresAt, shorten = false } = extension
  const { extend, setEnds, replaceable } = statements[noun]
  const ids = rows.map(({ id }) => id)
  if (expiresAt !== undefined) {
    const before = await replaceable(tx, scope, ids)
    const end = expiresAt === null ? null : toEpochMs(expiresAt)
    const ends = endsByDate(rows, before, { end, shorten, now })
    const changed = [...ends.keys()]
    await setEnds(tx, scope, ends, 'by-date')
    await forgetAddedTo(
      tx,
      scope,
      changed.flatMap((id) => before.get(id) ?? []),
    )
    const changedRows = rows.filter(({ id }) => ends.has(id))
    const undoOf = (after: readonly Ended[]) =>
      replacedUndo(tx, scope, { noun, rows: changedRows, before, after })
    return { changed, undoOf }
  }
  const undoOf = async (after: readonly Ended[]) => toUndo(rows, after, () => ({}))
  if (duration === undefined) return { changed: await extend(tx, scope, ids, days ?? 0, now), undoOf }
  const ends = new Map(
    rows.flatMap((row) => {
      const end = toShownEnd(row)
      if (end === null) return []
      return [[row.id, toStoredEnd(addDuration(Math.max(now, end), duration, timeZone), row.grace_days)]]
    }),
  )
  await setEnds(tx, scope, ends)
  return { changed: [...ends.keys()], undoOf }
}

/** What takes back new ends of rows, from what they were and had before. */
export async function replacedUndo(
  tx: Tx,
  scope: OwnerScope,
  { noun, rows, before, after }: Replacement,
): Promise<UndoRow[]> {
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return []
  const replaced = await statements[noun].replaceable(tx, scope, ids)
  return toUndo(rows, after, (id) => toReplaced(before.get(id), replaced.get(id)))
}

/** A license that is used later counts as changed. */
function toUndo(
  before: readonly Ended[],
  after: readonly Ended[],
  replacedOf: (id: string) => ReturnType<typeof toReplaced>,
): UndoRow[] {
  const rows = new Map(after.map((row) => [row.id, row]))
  return before.flatMap((row) => {
    const end = toEndChange(row, rows.get(row.id) ?? row, replacedOf(row.id))
    return end ? [{ _id: row.id, end }] : []
  })
}

/** What the record of an extension says: the time added, or the new end, which is null for never. */
export function extensionRecord({ days, duration, expiresAt }: Extension) {
  if (expiresAt === undefined) return { added: { days, duration }, after: undefined }
  return { added: {}, after: expiresAt === null ? null : toEpochMs(expiresAt) }
}

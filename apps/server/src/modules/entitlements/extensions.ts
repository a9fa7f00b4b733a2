import type { Duration, UndoRow } from '@keyward/contract'
import type { OwnerScope } from '../../core/actor.ts'
import { day, lastInstant, toEpochMs, toIsoOrNull } from '../../core/clock.ts'
import { addDuration } from '../../core/time-zones.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { accessOf, type Grant } from './access.rules.ts'
import { endNow, isAsLeft, timeUntil } from './grants.changes.ts'
import {
  type Change,
  changeAccess,
  endOfHolder,
  type Holder,
  ownOf,
  readHolders,
  sourceOf,
  type Which,
} from './grants.ts'

// Gives many licenses or end users more time, or one end, and takes it back.

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

type Noun = 'licenses' | 'clients'

const whichOf = (noun: Noun, ids: readonly string[]): Which =>
  noun === 'licenses' ? { licenses: ids } : { clients: ids }
const idOf = (noun: Noun, { license, client }: Holder): string =>
  (noun === 'licenses' ? license : client)?.id ?? ''

/** Extends what has an end, or gives an end; returns the ids that changed, their new ends, and what takes it back. */
export async function extendAll(
  write: WriteTransaction,
  scope: OwnerScope,
  { noun, ids, extension }: { noun: Noun; ids: readonly string[]; extension: Extension },
): Promise<{ changed: string[]; ends: Map<string, number | null>; undo: UndoRow[] }> {
  const { now } = write
  const before = new Map<string, Holder>()
  const source = sourceOf(write.actor)
  const after = await changeAccess(write, scope, whichOf(noun, ids), (holder) => {
    const change = extendedBy(holder, extension, { now, source })
    if (change) before.set(holder.id, holder)
    return change
  })
  const changed = [...before.values()].map((one) => ({ one, other: after.get(one.id) ?? one }))
  return {
    changed: changed.map(({ one }) => idOf(noun, one)),
    ends: new Map(changed.map(({ one, other }) => [idOf(noun, one), endOfHolder(other, now)])),
    undo: changed.flatMap(({ one, other }) => toUndo(noun, one, other, now)),
  }
}

function extendedBy(
  holder: Holder,
  { days, duration, timeZone = 'UTC', expiresAt, shorten = false }: Extension,
  { now, source }: { now: number; source: ReturnType<typeof sourceOf> },
): Change | undefined {
  const end = endOfHolder(holder, now)
  if (expiresAt !== undefined) {
    const added = endNow(holder, expiresAt === null ? null : toEpochMs(expiresAt), now, source)
    const [next, current] = [added.until ?? Number.POSITIVE_INFINITY, end ?? Number.POSITIVE_INFINITY]
    const isWaiting = holder.access.terms?.term === 'first_use' && holder.license?.started_at == null
    const isLater = next > current || (isWaiting && expiresAt === null)
    return isLater || (shorten && next < current) ? { added: [added] } : undefined
  }
  if (end === null) return undefined
  const from = Math.max(now, end)
  const next = duration
    ? addDuration(from, duration, timeZone)
    : Math.min(lastInstant, from + (days ?? 0) * day)
  return { added: [timeUntil(holder, Math.max(next, from), now, source)] }
}

/** What takes a change of an end back; nothing if the holder ends as before, with the same term. */
export function toUndo(noun: Noun, before: Holder, after: Holder, now: number): UndoRow[] {
  const [from, to] = [endOfHolder(before, now), endOfHolder(after, now)]
  const grant = after.grants.at(-1)
  const isSame = from === to && before.access.terms?.term === after.access.terms?.term
  if (!grant || isSame) return []
  const usedBy = noun === 'licenses' ? { usedBy: before.license?.client_id ?? null } : {}
  const end = { before: toIsoOrNull(from), after: toIsoOrNull(to), grant: grant.id }
  return [{ _id: idOf(noun, before), end, ...usedBy }]
}

/** The rows of an undo that are as the change left them, with the ends that people see without it; null for never. */
export async function findUndone(
  { tx, now }: Pick<WriteTransaction, 'tx' | 'now'>,
  scope: OwnerScope,
  noun: Noun,
  undo: readonly UndoRow[],
): Promise<Map<string, { end: number | null; grant: string }>> {
  const ids = undo.flatMap(({ _id, end }) => (end ? _id : []))
  const holders = new Map(
    (await readHolders(tx, scope, whichOf(noun, ids))).map((one) => [idOf(noun, one), one]),
  )
  return new Map(
    undo.flatMap(({ _id, end, usedBy }) => {
      const holder = holders.get(_id)
      const grant = holder?.grants.find(({ id }) => id === end?.grant)
      if (!holder || !grant || !isUndoable(grant) || !isAsLeft(holder, grant)) return []
      if (noun === 'licenses' && holder.license?.client_id !== (usedBy ?? null)) return []
      const without = holder.grants.filter((one) => one !== grant)
      const access = accessOf(ownOf(holder), without)
      const { used_at = null, started_at = null } = holder.license ?? {}
      // The clock of a license that is used has started.
      if (access.terms?.term === 'first_use' && used_at !== null && started_at === null) return []
      return [[_id, { end: endOfHolder({ ...holder, access }, now), grant: grant.id }]]
    }),
  )
}

/** Orders and programs are not undone, nor are keys and pauses. */
const isUndoable = ({ kind, source_kind }: Grant): boolean =>
  source_kind === 'person' && (kind === 'end' || kind === 'time')

/** Withdraws grants of holders by the ids of licenses or end users. */
export async function undoAll(
  write: WriteTransaction,
  scope: OwnerScope,
  noun: Noun,
  undone: ReadonlyMap<string, { grant: string }>,
): Promise<void> {
  const ids = new Set([...undone.values()].map(({ grant }) => grant))
  await changeAccess(write, scope, whichOf(noun, [...undone.keys()]), ({ grants }) => ({
    changed: grants.filter(({ id }) => ids.has(id)).map((one) => ({ ...one, withdrawn_at: write.now })),
  }))
}

/** What the record of an extension says: the time added, or the new end, which is null for never. */
export function extensionRecord({ days, duration, expiresAt }: Extension) {
  if (expiresAt === undefined) return { added: { days, duration }, after: undefined }
  return { added: {}, after: expiresAt === null ? null : toEpochMs(expiresAt) }
}

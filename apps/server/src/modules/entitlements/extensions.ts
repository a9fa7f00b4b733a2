import type { Duration, UndoRow } from '@keyward/contract'
import type { OwnerScope } from '../../core/actor.ts'
import { addDuration, day, lastInstant, toEpochMs, toIsoOrNull } from '../../core/clock.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { displayedEnd } from '../../db/stored-end.ts'
import { accessOf, type Grant } from './access.rules.ts'
import { atLeast, endNow, endToMove, isAsLeft, timeUntil } from './grants.changes.ts'
import {
  type Changed,
  changeAccess,
  type Holder,
  type NewGrant,
  ownOf,
  readHolders,
  sourceOf,
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

const idOf = (noun: Noun, { license, client }: Holder): string =>
  (noun === 'licenses' ? license : client)?.id ?? ''

/** Nouns as records name them. */
const recorded = { licenses: 'licenses', clients: 'end_users' } as const

type Found = readonly { id: string; app_id: string }[]

/** Extends what has an end, or gives an end; returns the ids that changed, their new ends, and what takes it back. */
export async function extendAll(
  write: WriteTransaction,
  scope: OwnerScope,
  { noun, ids, extension }: { noun: Noun; ids: readonly string[]; extension: Extension },
): Promise<{ changed: string[]; ends: Map<string, number | null>; undo: UndoRow[] }> {
  const source = sourceOf(write.actor)
  const all = await changeAccess(write, scope, { [noun]: ids }, (holder) => {
    const grant = extendedBy(holder, extension, { now: write.now, source })
    return grant && { added: [grant] }
  })
  const granted = all.filter(({ before, after }) => before.grants !== after.grants)
  const changed = granted.filter(({ after }) => after.grants.at(-1)?.kind !== 'period')
  const ends = new Map(changed.map(({ after }) => [idOf(noun, after), displayedEnd(after.access, write.now)]))
  return { changed: [...ends.keys()], ends, undo: granted.flatMap((one) => toUndo(noun, one, write.now)) }
}

function extendedBy(
  holder: Holder,
  { days, duration, timeZone = 'UTC', expiresAt, shorten = false }: Extension,
  { now, source }: { now: number; source: ReturnType<typeof sourceOf> },
): NewGrant | undefined {
  const end = displayedEnd(holder.access, now)
  if (expiresAt !== undefined) {
    const added = endNow(holder, expiresAt === null ? null : toEpochMs(expiresAt), now, source)
    const [next, current] = [added.until ?? Number.POSITIVE_INFINITY, end ?? Number.POSITIVE_INFINITY]
    const isWaiting = holder.access.terms?.term === 'first_use' && holder.license?.started_at == null
    const isLater = next > current || (isWaiting && expiresAt === null)
    if (isLater || (shorten && next < current)) return added
    const hidden = atLeast(holder, added.until ?? null, now)
    return hidden && { ...hidden, ...source }
  }
  const moved = endToMove(holder.access, now)
  if (moved === null) return undefined
  const from = Math.max(now, moved)
  const next = duration
    ? addDuration(from, duration, timeZone)
    : Math.min(lastInstant, from + (days ?? 0) * day)
  return timeUntil(holder, Math.max(next, from), now, source)
}

/** What takes a change of an end back; nothing if the holder ends as before, with the same term. */
export function toUndo(noun: Noun, { before, after }: Changed, now: number): UndoRow[] {
  const [from, to] = [displayedEnd(before.access, now), displayedEnd(after.access, now)]
  const grant = after.grants.at(-1)
  const isSame = from === to && before.access.terms?.term === after.access.terms?.term
  if (!grant || (isSame && grant.kind !== 'period')) return []
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
    (await readHolders(tx, scope, { [noun]: ids })).map((one) => [idOf(noun, one), one]),
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
      return [[_id, { end: displayedEnd(access, now), grant: grant.id }]]
    }),
  )
}

/** Orders and programs are not undone, nor are keys and pauses. */
const isUndoable = ({ kind, source_kind }: Grant): boolean =>
  source_kind === 'person' && (kind === 'end' || kind === 'time' || kind === 'period')

/** Withdraws grants of the licenses or end users that were found, by their ids, and records that. */
export async function undoAll(
  write: WriteTransaction,
  scope: OwnerScope,
  noun: Noun,
  undone: ReadonlyMap<string, { grant: string }>,
  found: Found,
): Promise<void> {
  const ids = new Set([...undone.values()].map(({ grant }) => grant))
  const all = await changeAccess(write, scope, { [noun]: [...undone.keys()] }, ({ grants }) => ({
    changed: grants.filter(({ id }) => ids.has(id)).map((one) => ({ ...one, withdrawn_at: write.now })),
  }))
  // Nobody was told of an end that an order outlasted, so nobody is told of its undo.
  const hidden = all.flatMap(({ before, after }) =>
    before.grants.some(({ id, kind }) => ids.has(id) && kind === 'period') ? idOf(noun, after) : [],
  )
  const restored = found.filter(({ id }) => !hidden.includes(id))
  write.recordByApp(`${recorded[noun]}.ends_restored`, restored, (ids) => ({ ids }))
}

/** Records bans of many, or that they were lifted. */
export function recordBans(
  write: WriteTransaction,
  noun: Noun,
  { banned, reason }: { banned: boolean; reason: string | null },
  found: Found,
  changed: readonly string[] = found.map(({ id }) => id),
): void {
  if (banned) write.recordByApp(`${recorded[noun]}.banned`, found, (ids) => ({ ids, reason }), { changed })
  else write.recordByApp(`${recorded[noun]}.unbanned`, found, (ids) => ({ ids }), { changed })
}

/** Records an extension of many: the time added, or the new end, which is null for never. */
export function recordExtension(
  write: WriteTransaction,
  noun: Noun,
  found: Found,
  { days, duration, expiresAt }: Extension,
  changed: readonly string[],
): void {
  if (expiresAt === undefined) {
    write.recordByApp(`${recorded[noun]}.extended`, found, (ids) => ({ ids, days, duration }), { changed })
  } else {
    const after = expiresAt === null ? null : toEpochMs(expiresAt)
    write.recordByApp(`${recorded[noun]}.expiry_changed`, found, (ids) => ({ ids, after }), { changed })
  }
}

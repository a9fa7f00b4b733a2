import type { ActivityEvent, AuditRecord } from '@keyward/contract'

interface Timed {
  at: Date | string | number | null | undefined
}

interface Source<Row extends Timed> {
  rows: readonly Row[]
  /** Loads further rows, which are older; undefined if all are loaded. */
  more: (() => unknown) | undefined
  /** The time of the oldest loaded row. */
  lastAt: string | undefined
}

const timeOf = ({ at }: Timed) => (at === null || at === undefined ? Number.NaN : new Date(at).getTime())

/**
 * Rows of several sources down to the time from which all of them are loaded, because a source may have further rows
 * that belong between older ones. `earlier` loads what comes next, if there is more.
 */
export function mergeNewest<Row extends Timed>(sources: readonly Source<Row>[]) {
  const open = sources.filter(({ more }) => more !== undefined)
  const ends = open.map(({ lastAt }) =>
    lastAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(lastAt),
  )
  const from = Math.max(Number.NEGATIVE_INFINITY, ...ends)
  const shown = sources.flatMap(({ rows }) => rows.filter((row) => timeOf(row) >= from))
  const next = open.filter((_, index) => ends[index] === from)
  const earlier = next.length === 0 ? undefined : () => next.map(({ more }) => more?.())
  return { shown, earlier }
}

/** What is known of an object itself, but for its generation if a record tells who did it. */
export const withoutRecorded = <Known extends { text: unknown }>(
  known: readonly Known[],
  records: readonly AuditRecord[],
): readonly Known[] =>
  records.some(({ action }) => action === 'licenses.created')
    ? known.filter(({ text }) => text !== 'Generated')
    : known

const sameMs = 2000

/** Records of what programs did are left out where the activity log tells the same. */
export const withoutRepeated = (records: readonly AuditRecord[], events: readonly ActivityEvent[]) =>
  records.filter(
    ({ actor, action, at }) =>
      actor.kind !== 'program' ||
      !events.some(
        (event) => event.kind === action && Math.abs(Date.parse(event.at) - Date.parse(at)) < sameMs,
      ),
  )

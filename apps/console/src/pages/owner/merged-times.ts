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

const sameMs = 2000
const isNear = (one: Timed, other: Timed) => Math.abs(timeOf(one) - timeOf(other)) < sameMs

/** Events from the oldest on. The server writes what a registration binds a moment before the registration itself. */
export function inOrder(newestFirst: readonly ActivityEvent[]): ActivityEvent[] {
  const isCause = ({ kind }: ActivityEvent) => kind === 'end_user.registered'
  const events = newestFirst.map((event) => {
    const cause = newestFirst.find((one) => isCause(one) && isNear(one, event) && timeOf(one) > timeOf(event))
    return cause && event.kind === 'device.bound' ? { ...event, at: cause.at } : event
  })
  return events.reverse().toSorted((a, b) => timeOf(a) - timeOf(b) || Number(isCause(b)) - Number(isCause(a)))
}

/** The facts of an object, without those that the log has as events. */
export const withoutRecorded = <Known extends Timed & { recordedAs?: string }>(
  known: readonly Known[],
  records: readonly AuditRecord[],
  events: readonly ActivityEvent[],
): readonly Known[] => {
  const told = [...records, ...events.map(({ kind, at }) => ({ action: kind, at }))]
  return known.filter((one) => !told.some((other) => other.action === one.recordedAs && isNear(one, other)))
}

/** Records of what programs did are left out where the activity log tells the same. */
export const withoutRepeated = (records: readonly AuditRecord[], events: readonly ActivityEvent[]) =>
  records.filter(
    (record) =>
      record.actor.kind !== 'program' ||
      !events.some((event) => event.kind === record.action && isNear(event, record)),
  )

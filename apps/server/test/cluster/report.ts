import type { Call, Kind } from './load.ts'

/** Something that was done to the cluster, with the time until which its consequences are counted. */
export interface Event {
  name: string
  at: number
  until: number
}

export interface Consequence {
  name: string
  kind: Kind
  calls: number
  /** Calls without a success, by status; 0 is a connection that broke or was silent. */
  failed: Record<number, number>
  /** The longest time without a success that began after the event, in seconds. */
  gap: number
}

const isSuccess = ({ status }: Call) => status >= 200 && status < 300

/** What each event meant for each kind of call. */
export const consequencesOf = (calls: readonly Call[], events: readonly Event[]): Consequence[] =>
  events.flatMap((event) =>
    (['write', 'check', 'list'] as const).map((kind) => consequenceOf(calls, event, kind)),
  )

function consequenceOf(calls: readonly Call[], { name, at, until }: Event, kind: Kind): Consequence {
  const own = calls.filter((call) => call.kind === kind && call.answeredAt >= at && call.answeredAt < until)
  const failed: Record<number, number> = {}
  for (const { status } of own.filter((call) => !isSuccess(call))) failed[status] = (failed[status] ?? 0) + 1
  const times = [
    at,
    ...own
      .filter(isSuccess)
      .map((call) => call.answeredAt)
      .sort((one, other) => one - other),
    until,
  ]
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time))
  return { name, kind, calls: own.length, failed, gap: Math.max(...gaps) / 1000 }
}

export function toTable(consequences: readonly Consequence[]): string {
  const lines = consequences.map(({ name, kind, calls, failed, gap }) => {
    const ofFailed = Object.entries(failed).map(
      ([status, count]) => `${count} × ${status === '0' ? 'broken' : status}`,
    )
    return `| ${name} | ${kind} | ${calls} | ${ofFailed.join(', ') || 'none'} | ${gap.toFixed(1)} s |`
  })
  return [
    '| Event | Calls | Number | Failed | Longest time without a success |',
    '| --- | --- | --: | --- | --: |',
    ...lines,
  ].join('\n')
}

import type { ReactNode } from 'react'
import { serverNow } from '../lib/api/server-time.ts'
import { type DateInput, formatExactTime } from '../lib/format/dates.ts'
import { DateText } from './date.tsx'

export interface TimelineEvent {
  /** Left out of the timeline without a time. */
  at: DateInput | null | undefined
  text: ReactNode
}

/** What happened when, the newest first, of events in their order; what is still to come is marked. */
export function Timeline({ events }: { events: TimelineEvent[] }) {
  const now = serverNow()
  const known = events
    .flatMap(({ at, text }) => (at === null || at === undefined ? [] : [{ at: new Date(at), text }]))
    .reverse()
    .toSorted((a, b) => b.at.getTime() - a.at.getTime())
  return (
    <ol className="grid">
      {known.map(({ at, text }, index) => {
        const ahead = at.getTime() > now
        return (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: events have their order and nothing else
            key={index}
            className="relative flex items-baseline gap-3 pb-4 pl-5 last:pb-0 not-last:before:absolute not-last:before:top-3 not-last:before:bottom-[-0.25rem] not-last:before:left-[0.21875rem] not-last:before:w-px not-last:before:bg-line"
          >
            <span
              aria-hidden
              className={`absolute top-1.5 left-0 size-2 rounded-full ${ahead ? 'border border-line-strong bg-surface' : 'bg-accent'}`}
            />
            <span className={`wrap-anywhere min-w-0 flex-1 ${ahead ? 'text-fg-muted' : ''}`}>{text}</span>
            <span title={formatExactTime(at)}>
              <DateText value={at} className="text-[0.8125rem] text-fg-muted" />
            </span>
          </li>
        )
      })}
    </ol>
  )
}

import type { ReactNode } from 'react'
import { serverNow } from '../lib/api/server-time.ts'
import type { DateInput } from '../lib/format/dates.ts'
import type { Tone } from './badge.tsx'
import { cx } from './cx.ts'
import { TimeText } from './date.tsx'

export interface TimelineEvent {
  /** Left out of the timeline without a time. */
  at: DateInput | null | undefined
  text: ReactNode
  /** Who did it. */
  by?: ReactNode
  /** What changed, a line each. */
  lines?: readonly ReactNode[]
  tone?: Tone
  action?: ReactNode
  /** The action of the log event for the same fact. */
  recordedAs?: string
}

const dots: Partial<Record<Tone, string>> = { danger: 'bg-danger', warning: 'bg-warning' }

/** What happened when, the newest first, of events in their order; what is still to come is marked. */
export function Timeline({ events }: { events: TimelineEvent[] }) {
  const now = serverNow()
  const known = events
    .flatMap(({ at, ...event }) => (at === null || at === undefined ? [] : [{ ...event, at: new Date(at) }]))
    .reverse()
    .toSorted((a, b) => b.at.getTime() - a.at.getTime())
  return (
    <ol className="grid">
      {known.map(({ at, text, by, lines = [], tone, action }, index) => {
        const ahead = at.getTime() > now
        return (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: events have their order and nothing else
            key={index}
            className="relative flex items-start gap-3 pb-4 pl-5 last:pb-0 not-last:before:absolute not-last:before:top-3 not-last:before:bottom-[-0.25rem] not-last:before:left-[0.21875rem] not-last:before:w-px not-last:before:bg-line"
          >
            <span
              aria-hidden
              className={cx(
                'absolute top-1.5 left-0 size-2 rounded-full',
                ahead ? 'border border-line-strong bg-surface' : ((tone && dots[tone]) ?? 'bg-accent'),
              )}
            />
            <div className="grid min-w-0 flex-1 gap-0.5">
              <span className={cx('wrap-anywhere', ahead && 'text-fg-muted')}>{text}</span>
              {lines.map((line, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have their order and nothing else
                <span key={at} className="wrap-anywhere text-[0.8125rem]">
                  {line}
                </span>
              ))}
              <span className="wrap-anywhere text-[0.8125rem] text-fg-muted">
                <TimeText value={at} />
                {by && <> · {by}</>}
              </span>
            </div>
            {action}
          </li>
        )
      })}
    </ol>
  )
}

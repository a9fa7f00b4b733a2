import { useSyncExternalStore } from 'react'
import { serverNow } from '../lib/api/server-time.ts'
import {
  type DateInput,
  formatDate,
  formatExact,
  formatRelative,
  formatUtcTime,
} from '../lib/format/dates.ts'

export interface DateTextProps {
  value: DateInput | null | undefined
  /** Shown when there is no date. */
  none?: string
  className?: string
}

/** 'MMM dd, yyyy' in the reader's time zone; to the second, on hover. */
export function DateText({ value, none = '—', className }: DateTextProps) {
  if (value === null || value === undefined) return <span className={className}>{none}</span>
  return <TimeText value={value} className={className} format={formatDate} />
}

interface TimeTextProps {
  value: DateInput
  className?: string | undefined
  format?: (value: DateInput, now: number) => string
}

/** How long ago or ahead within a day, else 'MMM dd, yyyy, time'; to the second, with time zones, on hover. */
export function TimeText({ value, className, format = formatRelative }: TimeTextProps) {
  // Says it anew each minute.
  useSyncExternalStore(everyMinute, lastMinute)
  return (
    <time
      dateTime={new Date(value).toISOString()}
      title={`${formatExact(value)}, ${formatUtcTime(value)}`}
      className={`whitespace-nowrap ${className ?? ''}`}
    >
      {format(value, serverNow())}
    </time>
  )
}

const minuteMs = 60_000

const lastMinute = () => Math.floor(serverNow() / minuteMs) * minuteMs

function everyMinute(onChange: () => void): () => void {
  const timer = setInterval(onChange, minuteMs / 4)
  return () => clearInterval(timer)
}

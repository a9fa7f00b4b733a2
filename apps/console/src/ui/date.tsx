import { type DateInput, formatDate, formatMoment, formatUtcTime } from '../lib/format/dates.ts'

export interface DateTextProps {
  value: DateInput | null | undefined
  /** Shown when there is no date. */
  none?: string
  className?: string
}

/** 'MMM dd, yyyy' in the reader's time zone; in UTC, to the second, on hover. */
export function DateText({ value, none = '—', className }: DateTextProps) {
  if (value === null || value === undefined) return <span className={className}>{none}</span>
  return <TimeText value={value} className={className} format={formatDate} />
}

interface TimeTextProps {
  value: DateInput
  className?: string | undefined
  format?: (value: DateInput) => string
}

/** 'MMM dd, yyyy, time' in the reader's time zone; in UTC on hover. */
export const TimeText = ({ value, className, format = formatMoment }: TimeTextProps) => (
  <time
    dateTime={new Date(value).toISOString()}
    title={formatUtcTime(value)}
    className={`whitespace-nowrap ${className ?? ''}`}
  >
    {format(value)}
  </time>
)

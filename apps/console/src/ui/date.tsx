import { type DateInput, formatDate, formatExactTime } from '../lib/format/dates.ts'

export interface DateTextProps {
  value: DateInput | null | undefined
  /** Shown when there is no date. */
  none?: string
  className?: string
}

/** 'MMM dd, yyyy', with the exact time on hover. */
export function DateText({ value, none = '—', className }: DateTextProps) {
  if (value === null || value === undefined) return <span className={className}>{none}</span>
  return (
    <time
      dateTime={new Date(value).toISOString()}
      title={formatExactTime(value)}
      className={`whitespace-nowrap ${className ?? ''}`}
    >
      {formatDate(value)}
    </time>
  )
}

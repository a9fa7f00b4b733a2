import { cx } from './cx.ts'

export interface ProgressProps {
  value: number
  /** 0 or less counts as full. */
  max: number
  label: string
  className?: string
}

/** A usage bar, capped at 100 %: warning from 70 % on, red from 90 % on. */
export function Progress({ value, max, label, className }: ProgressProps) {
  const percent = max > 0 ? Math.min(100, (value / max) * 100) : 100
  const tone = percent >= 90 ? 'bg-danger' : percent >= 70 ? 'bg-warning' : 'bg-success'
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuenow={Math.round(percent)}
      aria-valuemin={0}
      aria-valuemax={100}
      className={cx('h-1.5 w-full overflow-hidden rounded-full bg-hover', className)}
    >
      <div className={cx('h-full rounded-full', tone)} style={{ width: `${percent}%` }} />
    </div>
  )
}

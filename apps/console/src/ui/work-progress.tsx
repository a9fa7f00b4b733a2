import { useEffect, useState } from 'react'
import { formatNumber } from '../lib/format/numbers.ts'
import { percentOf } from '../lib/format/percent.ts'

export interface WorkProgressProps {
  done: number
  total: number
  /** For example 'Deleting licenses'. */
  label: string
}

/** Progress of long work; shown after one second. */
export function WorkProgress({ done, total, label }: WorkProgressProps) {
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 1000)
    return () => clearTimeout(timer)
  }, [])
  if (!shown) return null
  const percent = percentOf(done, total)
  return (
    <div className="grid gap-1.5">
      <p aria-live="polite" className="text-[0.8125rem] text-fg-muted tabular-nums">
        {label}: {formatNumber(done)} of {formatNumber(total)}
      </p>
      <div
        role="progressbar"
        aria-label={label}
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
        className="h-1.5 w-full overflow-hidden rounded-full bg-hover"
      >
        <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${percent}%` }} />
      </div>
    </div>
  )
}

import type { DurationUnit } from '../../lib/format/dates.ts'
import { durationText } from '../../lib/format/ending.ts'
import { DateText } from '../../ui/date.tsx'
import { expiryAfter } from './expiry.ts'

interface Props {
  term: string
  duration: number
  unit: DurationUnit
}

/** When licenses with this duration expire. */
export function ExpiryPreview({ term, duration, unit }: Props) {
  const expiry = expiryAfter(duration, unit)
  return (
    <p className="-mt-2 text-[0.8125rem] text-fg-muted" aria-live="polite">
      {!expiry ? (
        'The expiry date appears here.'
      ) : term === 'first_use' ? (
        `Expires ${durationText({ value: duration, unit })} after the first use, whenever that is.`
      ) : (
        <>
          Expires on <DateText value={expiry} className="font-medium text-fg" />
        </>
      )}
    </p>
  )
}

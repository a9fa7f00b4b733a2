import type { Duration } from '@keyward/contract'
import { type FormEvent, type ReactNode, useState } from 'react'
import { serverNow } from '../lib/api/server-time.ts'
import { useDraft } from '../lib/form/drafts.ts'
import { addDuration, endOfLocalDay, formatUtcTime, toDayInput } from '../lib/format/dates.ts'
import { formatNumber } from '../lib/format/numbers.ts'
import { Choice } from './choice.tsx'
import { DateText } from './date.tsx'
import { Facts } from './facts.tsx'
import { Field } from './field.tsx'
import { FormDialog } from './form-dialog.tsx'
import { Input, NumberInput } from './input.tsx'
import { Select } from './select.tsx'
import { Callout } from './states.tsx'
import { Switch } from './switch.tsx'

type Unit = Duration['unit']
type Change = 'from-end' | 'from-now' | 'date' | 'never'
type Quick = 'week' | 'month' | 'year' | 'other'

export interface Time {
  /** Undefined for a date or no end. */
  added: Duration | undefined
  /** The time counts from now instead of from the current end. */
  fromNow: boolean
  /** The latest new end; null for none. */
  end: Date | null
  /** Whether rows that end later than a date get it too. */
  shorten: boolean
  /** The same for the same input: an end that counts from now moves on. */
  asked: string
}

export interface TimeDialogProps {
  /** A function is asked again when a duration is exchanged for a date. */
  title: ReactNode | ((isAdding: boolean) => ReactNode)
  /** The current ends, ISO 8601, followed while the dialog is open; null for none. */
  ends: readonly (string | null)[]
  /** Shown for a current end that is null. */
  noEnd?: string
  /** The longest extension by unit, where the server adds the time. */
  max?: Partial<Record<Unit, number>>
  /** Asks for a duration that counts from now, and offers no times to add at once. */
  startsFromNow?: boolean
  /** What allows an earlier end: a switch with a warning. */
  shorten: { label: string; warning: string }
  neverWarning?: string | undefined
  facts?: { label: string; value: ReactNode }[]
  submitLabel: string
  busy: boolean
  onSubmit: (time: Time) => void
  onClose: () => void
  /** What the dialog says about this change. */
  note?: (change: 'add' | 'date' | 'never') => ReactNode
  children?: ReactNode
}

const quickTimes = {
  week: { value: 7, unit: 'days' },
  month: { value: 1, unit: 'months' },
  year: { value: 1, unit: 'years' },
} as const
const unitLabels: Record<Unit, string> = { hours: 'Hours', days: 'Days', months: 'Months', years: 'Years' }
const allUnits = Object.keys(unitLabels) as Unit[]

/** Adds time to one end or many, or sets them, and shows the result. */
export function TimeDialog(props: TimeDialogProps) {
  const { title, noEnd = 'Never', max, startsFromNow, shorten, submitLabel, busy, onSubmit, onClose } = props
  const ends = useShown(props.ends, busy)
  const now = serverNow()
  const times = ends.flatMap((end) => (end === null ? [] : Date.parse(end)))
  const hasEnd = times.length > 0
  const past = times.filter((time) => time <= now).length
  const canAddToEnd = max ? hasEnd : past < times.length
  const firstChange = (): Change => {
    if (canAddToEnd && !startsFromNow) return 'from-end'
    return max ? 'date' : 'from-now'
  }
  const [opened] = useState(() => ({
    quick: (hasEnd && !startsFromNow ? 'month' : 'other') as Quick,
    change: firstChange(),
    amount: '30',
    unit: 'days' as Unit,
    day: toDayInput(addDuration(Math.max(now, ...times), 30, 'days')),
    ends,
  }))
  const [before] = opened.ends
  const hasChanged = ends.length === 1 && ends[0] !== before
  const [values, setValues] = useState(opened)
  const [mayShorten, setMayShorten] = useState(false)
  const [isChecked, setIsChecked] = useState(false)
  useDraft({ opened, read: () => values, restore: setValues })
  const set = (changed: Partial<typeof values>) => {
    setValues({ ...values, ...changed })
    setMayShorten(false)
  }

  const { quick, unit, day } = values
  const change = quick === 'other' ? values.change : 'from-end'
  const isAdding = change === 'from-end' || change === 'from-now'
  const typed = { value: values.amount === '' ? Number.NaN : Number(values.amount), unit }
  const duration: Duration = quick === 'other' ? typed : quickTimes[quick]
  const from = (time: number) => (change === 'from-end' ? Math.max(now, time) : now)
  const [first, last] = hasEnd ? [Math.min(...times), Math.max(...times)] : [now, now]
  const most = max?.[duration.unit]
  const newEnd = (time: number) => {
    if (change === 'date') return day === '' ? undefined : new Date(endOfLocalDay(day))
    return isAdding ? endAfter(from(time), duration, most) : undefined
  }
  const [newFirst, newLast] = [newEnd(first), newEnd(last)]
  const isValid = change === 'never' || newLast !== undefined
  const later = newLast ? ends.filter((end) => end === null || Date.parse(end) > newLast.getTime()).length : 0
  const shortens = later > 0 && (!max || change === 'date')
  const isBlocked = shortens && !mayShorten && later === ends.length
  const hint = most === undefined ? undefined : `1 to ${formatNumber(most)} ${unit}`

  function submit(event: FormEvent) {
    event.preventDefault()
    setIsChecked(true)
    if (!isValid || isBlocked || busy) return
    const asked = JSON.stringify([change, duration, day])
    const added = isAdding ? duration : undefined
    onSubmit({ added, fromNow: change === 'from-now', end: newLast ?? null, shorten: mayShorten, asked })
  }

  return (
    <FormDialog
      onClose={onClose}
      busy={busy}
      title={typeof title === 'function' ? title(isAdding) : title}
      description={describe(change, past, ends.length)}
      onSubmit={submit}
      submitLabel={submitLabel}
      disabled={isBlocked}
    >
      {hasEnd && !startsFromNow && (
        <Choice
          label="Time"
          value={quick}
          onChange={(next) => set({ quick: next })}
          options={[
            { value: 'week', label: '+ 7 days' },
            { value: 'month', label: '+ 1 month' },
            { value: 'year', label: '+ 1 year' },
            { value: 'other', label: 'Other' },
          ]}
        />
      )}
      {quick === 'other' && (
        <Field label="Change">
          <Select
            value={change}
            onChange={(next) => set({ change: next as Change })}
            options={[
              ...(max ? [] : [{ value: 'from-now', label: 'Extend from now' }]),
              ...(canAddToEnd ? [{ value: 'from-end', label: 'Extend from the current expiry' }] : []),
              { value: 'date', label: 'Set a date' },
              { value: 'never', label: 'Never expires' },
            ]}
          />
        </Field>
      )}
      {quick === 'other' && isAdding && (
        <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)] items-start gap-3">
          <Field
            label="Extend By"
            hint={hint}
            error={hint && isChecked && !isValid ? `Enter a whole number, ${hint}` : undefined}
          >
            <NumberInput
              max={most}
              value={values.amount}
              onChange={(event) => set({ amount: event.target.value })}
            />
          </Field>
          <Field label="Expiry Unit">
            <Select
              value={unit}
              onChange={(next) => set({ unit: next as Unit })}
              options={allUnits
                .filter((one) => !max || one in max)
                .map((value) => ({ value, label: unitLabels[value] }))}
            />
          </Field>
        </div>
      )}
      {change === 'date' && (
        <Field label="Expiration Date" hint="Valid until the end of this day">
          <Input
            type="date"
            max="9999-12-31"
            required
            value={day}
            onChange={(event) => set({ day: event.target.value })}
          />
        </Field>
      )}
      <div aria-live="polite" className="rounded-lg border px-4 py-1">
        <Facts
          items={[
            ...(props.facts ?? []),
            { label: 'Current expiry', value: hasEnd ? <Range from={first} to={last} /> : noEnd },
            {
              label: 'New expiry',
              value:
                newFirst && newLast ? (
                  <Range from={newFirst.getTime()} to={newLast.getTime()} />
                ) : change === 'never' ? (
                  'Never'
                ) : (
                  '—'
                ),
            },
            ...(past > 0 && ends.length > 1
              ? [{ label: 'Expired now', value: `${past} of ${ends.length}` }]
              : []),
          ]}
        />
      </div>
      {hasChanged && (
        <Callout tone="warning">
          Someone changed the expiry while this dialog was open. It was{' '}
          <DateText value={before ?? null} none={noEnd.toLowerCase()} />.
        </Callout>
      )}
      {shortens && (
        <>
          <Callout tone="warning">
            {ends.length === 1
              ? shorten.warning
              : `${later} of ${ends.length} expire later or never${mayShorten ? ', and are shortened' : ', and stay as they are'}.`}
          </Callout>
          <Switch label={shorten.label} checked={mayShorten} onChange={setMayShorten} />
        </>
      )}
      {change === 'never' && props.neverWarning && <Callout tone="warning">{props.neverWarning}</Callout>}
      {props.note?.(isAdding ? 'add' : change)}
      {props.children}
    </FormDialog>
  )
}

/** The live values, as they were when the dialog sent its change. */
function useShown(live: readonly (string | null)[], busy: boolean) {
  const [shown, setShown] = useState(live)
  if (busy || JSON.stringify(shown) === JSON.stringify(live)) return shown
  setShown(live)
  return live
}

function describe(change: Change, past: number, count: number): string {
  if (change === 'date') return `${count > 1 ? 'They are' : 'It is'} valid until the end of the day.`
  if (change === 'never') return `${count > 1 ? 'They have' : 'It has'} no end until you set one.`
  if (change === 'from-now') return 'The new expiry counts from now, not from the current expiry.'
  if (count > 1) return 'The time is added to each current expiry. Expired ones count from now.'
  return past > 0
    ? 'The expiry has passed, so the time counts from now.'
    : 'The time is added to the current expiry.'
}

/** Undefined unless the amount is a positive whole number within `most` and the end is before the year 10000. */
function endAfter(from: number, { value, unit }: Duration, most = Number.POSITIVE_INFINITY) {
  if (!Number.isInteger(value) || value < 1 || value > most) return undefined
  const end = addDuration(from, value, unit)
  return Number.isNaN(end.getTime()) || end.getUTCFullYear() > 9999 ? undefined : end
}

function Range({ from, to }: { from: number; to: number }) {
  return (
    <span title={from === to ? formatUtcTime(to) : undefined}>
      <DateText value={from} />
      {to !== from && (
        <>
          {' to '}
          <DateText value={to} />
        </>
      )}
    </span>
  )
}

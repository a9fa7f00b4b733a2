import type { License } from '@keyward/contract'
import { type FormEvent, useState } from 'react'
import { useApp } from '../../lib/api/apps.ts'
import { isNetworkError } from '../../lib/api/call.ts'
import { serverNow } from '../../lib/api/server-time.ts'
import { useDraft } from '../../lib/form/drafts.ts'
import { type DurationUnit, endOfLocalDay, formatExactTime, toDayInput } from '../../lib/format/dates.ts'
import { noDateText, oldProgramsWarning } from '../../lib/format/ending.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { DateText } from '../../ui/date.tsx'
import { Dialog, DialogBody, DialogForm, FormFooter } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { KeyText } from '../../ui/key-text.tsx'
import { Select } from '../../ui/select.tsx'
import { Callout } from '../../ui/states.tsx'
import { DurationFields } from './duration-fields.tsx'
import { expiryAfter } from './expiry.ts'
import { useEditExpiry } from './queries.ts'

export interface EditExpiryDialogProps {
  license: License
  onClose: () => void
}

type Change = 'from-now' | 'from-end' | 'date' | 'never'

const descriptions: Record<Change, string> = {
  'from-now': 'The new expiry counts from now, not from the current expiry.',
  'from-end': 'The duration is added to the current expiry.',
  date: 'The license is valid until the end of the day.',
  never: 'The license has no end until you set one.',
}

export function EditExpiryDialog({ license, onClose }: EditExpiryDialogProps) {
  const edit = useEditExpiry()
  const { app } = useApp(license.app._id)
  // The list may load the license again while this dialog shows the expiry from before.
  const [seen] = useState({ expiresAt: license.expiresAt, term: license.term })
  // Without a response, the edit may be saved: sending the same expiry again is no conflict.
  const [lost, setLost] = useState<{ asked: string; expiresAt: string | null }>()
  const [change, setChange] = useState<Change>('from-now')
  const [duration, setDuration] = useState('30')
  const [unit, setUnit] = useState<DurationUnit>('days')
  const [openedDay] = useState(() => toDayInput(expiryAfter(30, 'days')!))
  const [day, setDay] = useState(openedDay)
  const current = seen.expiresAt === null ? undefined : Date.parse(seen.expiresAt)
  useDraft({
    opened: {
      change: 'from-now' as Change,
      duration: '30',
      unit: 'days' as DurationUnit,
      day: openedDay,
      seen,
    },
    read: () => ({ change, duration, unit, day, seen }),
    restore: (draft) => {
      setChange(draft.change)
      setDuration(draft.duration)
      setUnit(draft.unit)
      setDay(draft.day)
    },
  })
  const isAhead = current !== undefined && current > serverNow()

  const amount = duration === '' ? Number.NaN : Number(duration)
  const expiry = {
    'from-now': () => expiryAfter(amount, unit),
    'from-end': () => expiryAfter(amount, unit, current),
    date: () => (day === '' ? undefined : new Date(endOfLocalDay(day))),
    never: () => undefined,
  }[change]()
  const shortens = expiry !== undefined && expiry.getTime() < (current ?? Number.POSITIVE_INFINITY)

  function submit(event: FormEvent) {
    event.preventDefault()
    if ((!expiry && change !== 'never') || edit.isPending) return
    const asked = JSON.stringify([change, amount, unit, day])
    const expiresAt = lost?.asked === asked ? lost.expiresAt : (expiry?.toISOString() ?? null)
    edit.mutate(
      { id: license._id, expiresAt, seen },
      {
        onSuccess: onClose,
        onError: (error) => setLost(isNetworkError(error) ? { asked, expiresAt } : undefined),
      },
    )
  }

  return (
    <Dialog onClose={onClose} busy={edit.isPending} title="Edit Expiry" description={descriptions[change]}>
      <DialogForm onSubmit={submit}>
        <DialogBody>
          <Field label="Change">
            <Select
              value={change}
              onChange={(value) => setChange(value as Change)}
              options={[
                { value: 'from-now', label: 'Extend from now' },
                ...(isAhead ? [{ value: 'from-end', label: 'Extend from the current expiry' }] : []),
                { value: 'date', label: 'Set a date' },
                { value: 'never', label: 'Never expires' },
              ]}
            />
          </Field>
          {(change === 'from-now' || change === 'from-end') && (
            <DurationFields
              label="Extend By"
              unit={unit}
              onUnit={setUnit}
              input={{ value: duration, onChange: (event) => setDuration(event.target.value) }}
            />
          )}
          {change === 'date' && (
            <Field label="Expiration Date" hint="Valid until the end of this day">
              <Input
                type="date"
                max="9999-12-31"
                required
                value={day}
                onChange={(event) => setDay(event.target.value)}
              />
            </Field>
          )}
          <div aria-live="polite" className="rounded-lg border px-4 py-1">
            <Facts
              items={[
                {
                  label: 'License',
                  value: <KeyText>{keyPrefix(license.key)}</KeyText>,
                },
                {
                  label: 'Current expiry',
                  value: <DateText value={seen.expiresAt} none={noDateText({ ...license, ...seen })} />,
                },
                {
                  label: 'New expiry',
                  value: expiry ? (
                    <span title={formatExactTime(expiry)}>
                      <DateText value={expiry} />
                    </span>
                  ) : change === 'never' ? (
                    'Never'
                  ) : (
                    '—'
                  ),
                },
              ]}
            />
          </div>
          {shortens && current !== undefined && (
            <Callout tone="warning">
              The new expiry is earlier than the current one. This shortens the license.
            </Callout>
          )}
          {shortens && current === undefined && (
            <Callout tone="warning">
              {seen.term === 'first_use'
                ? 'The license then no longer counts from its first use.'
                : 'The license never expires now. This shortens it.'}
            </Callout>
          )}
          {change === 'never' && oldProgramsWarning(app) && (
            <Callout tone="warning">{oldProgramsWarning(app)}</Callout>
          )}
          {license.usedBy && (
            <p className="text-[0.8125rem] text-fg-muted">
              The end user <span className="font-medium text-fg">{license.usedBy.username}</span> gets the
              same expiry.
            </p>
          )}
        </DialogBody>
        <FormFooter submitLabel="Update Expiry" busy={edit.isPending} onCancel={onClose} />
      </DialogForm>
    </Dialog>
  )
}

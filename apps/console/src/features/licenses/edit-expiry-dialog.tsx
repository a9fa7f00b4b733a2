import type { License } from '@keyward/contract'
import { type FormEvent, useState } from 'react'
import { type DurationUnit, formatExactTime } from '../../lib/format/dates.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { DateText } from '../../ui/date.tsx'
import { Dialog, DialogBody, DialogForm, FormFooter } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Callout } from '../../ui/states.tsx'
import { DurationFields } from './duration-fields.tsx'
import { expiryAfter } from './expiry.ts'
import { useEditExpiry } from './queries.ts'

export interface EditExpiryDialogProps {
  license: License
  onClose: () => void
}

export function EditExpiryDialog({ license, onClose }: EditExpiryDialogProps) {
  const edit = useEditExpiry()
  const [duration, setDuration] = useState('30')
  const [unit, setUnit] = useState<DurationUnit>('days')
  const expiry = expiryAfter(duration === '' ? Number.NaN : Number(duration), unit)
  const earlier = expiry !== undefined && expiry.getTime() < Date.parse(license.expiresAt)

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!expiry || edit.isPending) return
    edit.mutate({ id: license._id, expiresAt: expiry.toISOString() }, { onSuccess: onClose })
  }

  return (
    <Dialog
      onClose={onClose}
      busy={edit.isPending}
      title="Edit Expiry"
      description="The new expiry counts from now, not from the current expiry."
    >
      <DialogForm onSubmit={submit}>
        <DialogBody>
          <DurationFields
            label="Extend By"
            unit={unit}
            onUnit={setUnit}
            input={{ value: duration, onChange: (event) => setDuration(event.target.value) }}
          />
          <div aria-live="polite" className="rounded-lg border px-4 py-1">
            <Facts
              items={[
                {
                  label: 'License',
                  value: <code className="font-mono text-[0.8125rem]">{keyPrefix(license.key)}</code>,
                },
                { label: 'Current expiry', value: <DateText value={license.expiresAt} /> },
                {
                  label: 'New expiry',
                  value: expiry ? (
                    <span title={formatExactTime(expiry)}>
                      <DateText value={expiry} />
                    </span>
                  ) : (
                    '—'
                  ),
                },
              ]}
            />
          </div>
          {earlier && (
            <Callout tone="warning">
              The new expiry is earlier than the current one. This shortens the license.
            </Callout>
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

import type { PortalLicense } from '@keyward/contract'
import { useState } from 'react'
import type { z } from 'zod'
import { isRejected } from '../../lib/api/call.ts'
import { serverNow } from '../../lib/api/server-time.ts'
import { useDraft } from '../../lib/form/drafts.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { useRequest } from '../../lib/form/use-request.ts'
import { addDuration, endOfLocalDay, toDayInput } from '../../lib/format/dates.ts'
import { noDateText } from '../../lib/format/ending.ts'
import { typeSummary } from '../../lib/format/license-type.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { CopyKeys } from '../../ui/copy-keys.tsx'
import { DateText } from '../../ui/date.tsx'
import { Dialog, DoneFooter } from '../../ui/dialog.tsx'
import { DialogResult } from '../../ui/dialog-result.tsx'
import { Field } from '../../ui/field.tsx'
import { FieldsForm } from '../../ui/form-dialog.tsx'
import { Input, NumberInput } from '../../ui/input.tsx'
import { NoteField } from '../../ui/note-field.tsx'
import { Select } from '../../ui/select.tsx'
import { generateSchema, latestDay } from './generate-schema.ts'
import { useGeneratePortalLicenses, usePortalLicenseTypes } from './queries.ts'

export interface GenerateDialogProps {
  remaining: number
  appName: string
  onClose: () => void
}

export function GenerateDialog({ remaining, appName, onClose }: GenerateDialogProps) {
  const [busy, setBusy] = useState(false)
  const [generated, setGenerated] = useState<PortalLicense[]>()
  return (
    <Dialog
      onClose={onClose}
      busy={busy}
      title={generated ? 'Licenses Generated' : 'Generate License'}
      description={
        generated
          ? generated.length === 1
            ? 'The key is ready to hand out. You can find it in the list.'
            : `${generated.length} keys are ready to hand out. You can find them in the list.`
          : `New keys for ${appName}. You can generate ${formatNumber(remaining)} more.`
      }
    >
      {generated ? (
        <GeneratedKeys licenses={generated} onDone={onClose} />
      ) : (
        <GenerateForm remaining={remaining} onBusy={setBusy} onCancel={onClose} onGenerated={setGenerated} />
      )}
    </Dialog>
  )
}

const toBody = ({ count, type, expiresAt, note }: z.output<ReturnType<typeof generateSchema>>) => ({
  count,
  ...(note && { note }),
  ...(type ? { type } : { expiresAt: endOfLocalDay(expiresAt) }),
})

interface GenerateFormProps {
  remaining: number
  onBusy: (busy: boolean) => void
  onCancel: () => void
  onGenerated: (licenses: PortalLicense[]) => void
}

function GenerateForm({ remaining, onBusy, onCancel, onGenerated }: GenerateFormProps) {
  const generate = useGeneratePortalLicenses()
  const send = useRequest(toBody)
  // What the server may have generated without a response is no longer in `remaining`, and its repeat must stay possible.
  const [unanswered, setUnanswered] = useState(0)
  useDraft({ name: 'unanswered', opened: 0, read: () => unanswered, restore: setUnanswered })
  const most = Math.max(remaining, unanswered)
  const form = useSchemaForm(generateSchema(most), {
    defaultValues: {
      ...{ count: 1, type: '', note: '' },
      expiresAt: toDayInput(addDuration(serverNow(), 30, 'days')),
    },
  })
  const { errors } = form.formState
  const types = usePortalLicenseTypes().data ?? []
  const type = types.find(({ _id }) => _id === form.watch('type'))
  const count = form.register('count', { valueAsNumber: true })

  const submit = useSubmit({ form, onBusy }, async (values) => {
    const sent = send(values, generate.mutateAsync)
    sent.catch((error) => setUnanswered(isRejected(error) ? 0 : values.count))
    onGenerated(await sent)
  })
  return (
    <FieldsForm
      onSubmit={submit}
      submitLabel="Generate License"
      busy={generate.isPending}
      disabled={most <= 0}
      onCancel={onCancel}
    >
      <Field label="Number of Licenses" hint={`1 to ${formatNumber(most)}`} error={errors.count?.message}>
        <NumberInput
          {...count}
          max={most}
          onBlur={(event) => {
            if (Number.isNaN(event.target.valueAsNumber)) form.setValue('count', 1)
            void count.onBlur(event)
          }}
        />
      </Field>
      {types.length > 0 && (
        <Field label="Term" hint={type && typeSummary(type)}>
          <Select
            value={type?._id ?? 'date'}
            onChange={(value) => form.setValue('type', value === 'date' ? '' : value)}
            options={[
              { value: 'date', label: 'Until a date' },
              ...types.map(({ _id, name }) => ({ value: _id, label: name })),
            ]}
          />
        </Field>
      )}
      {!type && (
        <Field
          label="Expiration Date"
          hint="Valid until the end of this day"
          error={errors.expiresAt?.message}
        >
          <Input
            {...form.register('expiresAt')}
            type="date"
            min={toDayInput(serverNow())}
            max={latestDay}
            required
          />
        </Field>
      )}
      <NoteField
        example="your customer's name or order"
        form={form.register('note')}
        error={errors.note?.message}
      />
    </FieldsForm>
  )
}

function GeneratedKeys({ licenses, onDone }: { licenses: PortalLicense[]; onDone: () => void }) {
  const [first] = licenses
  if (!first) return null
  return (
    <>
      <DialogResult>
        <CopyKeys keys={licenses.map((license) => license.key)}>
          {first.app.name}, {first.expiresAt ? 'until ' : 'expires: '}
          <DateText value={first.expiresAt} none={noDateText(first)} />
        </CopyKeys>
        <ul className="divide-y rounded-lg border bg-sunken">
          {licenses.slice(0, shownMax).map((license) => (
            <li key={license._id} className="break-all px-3 py-2 font-mono text-[0.8125rem]">
              {license.key}
            </li>
          ))}
        </ul>
        {licenses.length > shownMax && (
          <p className="text-[0.8125rem] text-fg-muted">
            And {formatNumber(licenses.length - shownMax)} more. Copy all, or find them in the list.
          </p>
        )}
      </DialogResult>
      <DoneFooter onDone={onDone} />
    </>
  )
}

const shownMax = 100

import { useFreshData } from '../../lib/form/fresh-data.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { noDateText } from '../../lib/format/ending.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DateText, TimeText } from '../../ui/date.tsx'
import { Dialog, DialogBody } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { FieldsForm } from '../../ui/form-dialog.tsx'
import { KeyText } from '../../ui/key-text.tsx'
import { NoteField } from '../../ui/note-field.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Callout, QueryError } from '../../ui/states.tsx'
import { noteSchema } from './generate-schema.ts'
import { StatusBadges } from './license-columns.tsx'
import { useNotePortalLicense, usePortalLicense } from './queries.ts'

/** A key's state, devices and last refusal, for questions of the reseller's customer, and the reseller's own note. */
export function LicenseDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const query = usePortalLicense(id)
  const shown = useFreshData(query)
  const save = useNotePortalLicense()
  return (
    <Dialog onClose={onClose} busy={save.isPending} title="License" description={shown?.license.app.name}>
      {shown ? (
        <NoteForm {...shown} save={save} onClose={onClose} />
      ) : (
        <DialogBody>
          {query.isError ? (
            <QueryError query={query} title="Failed to fetch licenses" />
          ) : (
            <Skeleton className="h-72" />
          )}
        </DialogBody>
      )}
    </Dialog>
  )
}

type Shown = NonNullable<ReturnType<typeof usePortalLicense>['data']>

function Details({ license, devices, refusal }: Shown) {
  const { key, usedBy, createdAt, expiresAt } = license
  return (
    <>
      {refusal && (
        <Callout tone={refusal.solved ? 'neutral' : 'warning'} title={refusal.message}>
          Refused last <TimeText value={refusal.at} />, reference {refusal.reference}.{' '}
          {refusal.solved
            ? 'The reason no longer applies: your customer can try again.'
            : 'Your administrator finds it by the reference.'}
        </Callout>
      )}
      <Facts
        items={[
          {
            label: 'License key',
            value: (
              <span className="inline-flex items-center gap-1">
                <KeyText>{key}</KeyText>
                <CopyButton text={key} label="Copy license key" message="License key copied to clipboard" />
              </span>
            ),
          },
          { label: 'Status', value: <StatusBadges license={license} /> },
          {
            label: 'Used by',
            value: usedBy === key ? 'Unnamed' : (usedBy ?? 'Nobody yet'),
          },
          ...(devices
            ? [
                {
                  label: 'Devices',
                  value: `${formatNumber(devices.used)} of ${devices.limit < 0 ? 'any number' : formatNumber(devices.limit)}`,
                },
              ]
            : []),
          { label: 'Created', value: <DateText value={createdAt} /> },
          { label: 'Expires', value: <DateText value={expiresAt} none={noDateText(license)} /> },
        ]}
      />
    </>
  )
}

interface NoteFormProps extends Shown {
  save: ReturnType<typeof useNotePortalLicense>
  onClose: () => void
}

function NoteForm({ save, onClose, ...shown }: NoteFormProps) {
  const { _id, note } = shown.license
  const form = useSchemaForm(noteSchema, { defaultValues: { note: note ?? '' } })
  const submit = useSubmit({ form, onDone: onClose }, (values) =>
    save.mutateAsync({ id: _id, body: { ...values, seen: { note } } }),
  )
  return (
    <FieldsForm onSubmit={submit} submitLabel="Save Note" busy={save.isPending} onCancel={onClose}>
      <Details {...shown} />
      <NoteField
        example="your customer's name or order"
        form={form.register('note')}
        error={form.formState.errors.note?.message}
      />
    </FieldsForm>
  )
}

import { type License, limits, unlimited } from '@keyward/contract'
import { licenses } from '@keyward/contract/licenses'
import { useState } from 'react'
import { z } from 'zod'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { ExactInput, NumberInput } from '../../ui/input.tsx'
import { NoteField } from '../../ui/note-field.tsx'
import { Switch } from '../../ui/switch.tsx'
import { useEditLicense } from './queries.ts'

// One file to load: each further one makes every page larger.
export { ChangeTypeDialog } from './change-type-dialog.tsx'

const body = licenses.update.body!.shape
const amount = `Enter a whole number from 1 to ${formatNumber(limits.devicesMax)}`
const schema = z.object({
  anyDevice: z.boolean(),
  devices: z.int(amount).min(1, amount).max(limits.devicesMax, amount),
  features: z
    .string()
    .transform((text) => text.split(/[\s,]+/).filter(Boolean))
    .pipe(body.features.unwrap()),
  note: body.note.unwrap().unwrap(),
})

/** Changes the terms of one license, besides its expiry. */
export function EditLicenseDialog({ license, onClose }: { license: License; onClose: () => void }) {
  const edit = useEditLicense()
  const isFloating = license.seats !== null
  // The list may load the license again while this dialog shows the values from before.
  const [seen] = useState({ devices: license.devices, features: license.features, note: license.note })
  const form = useSchemaForm(schema, {
    defaultValues: {
      anyDevice: license.devices === unlimited,
      devices: Math.max(1, license.devices),
      features: license.features.join(', '),
      note: license.note ?? '',
    },
  })
  const { errors } = form.formState
  const anyDevice = form.watch('anyDevice')

  const submit = useSubmit({ form, onDone: onClose }, ({ devices, features, note }) =>
    edit.mutateAsync({
      id: license._id,
      body: { features, note, ...(!isFloating && { devices: anyDevice ? unlimited : devices }), seen },
    }),
  )

  return (
    <FormDialog
      onClose={onClose}
      busy={edit.isPending}
      title="Edit License"
      description={`${license.app.name}, ${keyPrefix(license.key)}`}
      onSubmit={submit}
      submitLabel="Save License"
    >
      {!isFloating && (
        <Switch
          label="Any Number of Devices"
          checked={anyDevice}
          onChange={(checked) => form.setValue('anyDevice', checked)}
        />
      )}
      {!isFloating && !anyDevice && (
        <Field
          label="Devices"
          hint="Devices that are bound already stay bound"
          error={errors.devices?.message}
        >
          <NumberInput max={limits.devicesMax} {...form.register('devices', { valueAsNumber: true })} />
        </Field>
      )}
      <Field
        label="Features"
        optional
        hint="Names such as pro, export"
        error={errors.features && (errors.features.message ?? 'Check the names of the features')}
      >
        <ExactInput {...form.register('features')} />
      </Field>
      <NoteField example="an order number" form={form.register('note')} error={errors.note?.message} />
    </FormDialog>
  )
}

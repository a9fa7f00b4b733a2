import type { App, License } from '@keyward/contract'
import { useState } from 'react'
import { Controller } from 'react-hook-form'
import { toAppOptions, useApp, useFindApps } from '../../lib/api/apps.ts'
import { useLicenseTypes } from '../../lib/api/license-types.ts'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { useRequest } from '../../lib/form/use-request.ts'
import { oldProgramsWarning } from '../../lib/format/ending.ts'
import { typeSummary } from '../../lib/format/license-type.ts'
import { Dialog, DialogBody, DialogForm, FormFooter } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { Callout } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { DurationFields } from './duration-fields.tsx'
import { ExpiryPreview } from './expiry-preview.tsx'
import {
  generateDefaults,
  generateSchema,
  hasDuration,
  hasMissingFields,
  termOptions,
  toRequest,
} from './generate-form.ts'
import { GeneratedKeys } from './generated-keys.tsx'
import { LicensesLeft } from './licenses-left.tsx'
import { useGenerateLicenses } from './queries.ts'

export interface GenerateDialogProps {
  onClose: () => void
  apps: App[]
  /** The app that is selected at first. */
  appId: string | undefined
}

export function GenerateDialog({ onClose, apps, appId }: GenerateDialogProps) {
  const [busy, setBusy] = useState(false)
  const [generated, setGenerated] = useState<License[]>()
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
          : 'Create keys for one of your apps. They are valid immediately.'
      }
    >
      {generated ? (
        <GeneratedKeys licenses={generated} onMore={() => setGenerated(undefined)} onDone={onClose} />
      ) : (
        <GenerateForm
          apps={apps}
          appId={appId}
          onBusy={setBusy}
          onCancel={onClose}
          onGenerated={setGenerated}
        />
      )}
    </Dialog>
  )
}

interface GenerateFormProps {
  apps: App[]
  appId: string | undefined
  onBusy: (busy: boolean) => void
  onCancel: () => void
  onGenerated: (licenses: License[]) => void
}

function GenerateForm({ apps, appId, onBusy, onCancel, onGenerated }: GenerateFormProps) {
  const generate = useGenerateLicenses()
  const send = useRequest(toRequest)
  const only = apps.length === 1 ? apps[0]?._id : undefined
  const form = useSchemaForm(generateSchema, {
    defaultValues: { ...generateDefaults, app: appId ?? only ?? '' },
  })
  const { errors } = form.formState
  const [app, term, unit, duration] = form.watch(['app', 'term', 'unit', 'duration'])
  const { app: chosen } = useApp(app || undefined)
  const find = useFindApps()
  const customKeys = chosen?.settings.allowCustomLicenseKey ?? false
  const types = useLicenseTypes(chosen?._id).data ?? []
  const type = types.find(({ _id }) => _id === term)
  const isForever = term === 'forever' || type?.term === 'forever'
  const warning = isForever ? oldProgramsWarning(chosen) : undefined

  const submit = form.handleSubmit(
    async (values) => {
      onBusy(true)
      try {
        const sentValues = customKeys ? values : { ...values, key: undefined }
        onGenerated(await send(sentValues, generate.mutateAsync))
      } catch (error) {
        showFieldErrors(form, error)
      } finally {
        onBusy(false)
      }
    },
    () => {
      if (!hasMissingFields(form.getValues())) return
      toast.error('Missing fields', { description: 'Please fill in all required fields.' })
    },
  )

  return (
    <DialogForm onSubmit={submit}>
      <DialogBody>
        <Field label="Application" error={errors.app && 'Choose an application'}>
          <Controller
            control={form.control}
            name="app"
            render={({ field }) => (
              <Select
                value={field.value || undefined}
                onChange={(value) => {
                  field.onChange(value)
                  form.resetField('key')
                  form.resetField('term')
                }}
                options={toAppOptions(apps, chosen)}
                find={find}
                placeholder="Choose an application"
              />
            )}
          />
        </Field>
        <Field
          label="Amount"
          hint="1 to 100 keys at a time"
          error={errors.amount?.message}
          action={<LicensesLeft app={chosen?._id} />}
        >
          <Input
            type="number"
            inputMode="numeric"
            min={1}
            max={100}
            step={1}
            {...form.register('amount', { valueAsNumber: true })}
          />
        </Field>
        <Field label="Term" hint={type ? typeSummary(type) : undefined}>
          <Controller
            control={form.control}
            name="term"
            render={({ field }) => (
              <Select
                value={field.value}
                onChange={(value) => {
                  field.onChange(value)
                  if (!hasDuration(value)) form.resetField('duration')
                }}
                options={[
                  ...termOptions,
                  ...types.map(({ _id, name }) => ({ value: _id, label: `Type: ${name}` })),
                ]}
              />
            )}
          />
        </Field>
        {warning && <Callout tone="warning">{warning}</Callout>}
        {hasDuration(term) && (
          <>
            <Controller
              control={form.control}
              name="unit"
              render={({ field }) => (
                <DurationFields
                  label="Duration"
                  unit={field.value}
                  onUnit={field.onChange}
                  input={form.register('duration', { valueAsNumber: true })}
                  error={errors.duration?.message}
                />
              )}
            />
            <ExpiryPreview term={term} duration={duration} unit={unit} />
          </>
        )}
        <Field
          label="Note"
          optional
          hint="Visible only to you, for example an order number"
          error={errors.note?.message}
        >
          <Input maxLength={200} autoComplete="off" {...form.register('note')} />
        </Field>
        {customKeys && (
          <Field
            label="Custom key"
            optional
            hint="6 to 100 letters, digits, - or _. Leave it empty for a random key."
            error={errors.key?.message}
          >
            <Input
              className="font-mono"
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              {...form.register('key')}
            />
          </Field>
        )}
      </DialogBody>
      <FormFooter submitLabel="Generate License" busy={generate.isPending} onCancel={onCancel} />
    </DialogForm>
  )
}

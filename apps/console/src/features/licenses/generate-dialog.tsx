import type { App, License } from '@keyward/contract'
import { useState } from 'react'
import { Controller } from 'react-hook-form'
import { toAppOptions, useApp, useFindApps } from '../../lib/api/apps.ts'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { DateText } from '../../ui/date.tsx'
import { Dialog, DialogBody, DialogForm, FormFooter } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { toast } from '../../ui/toast.tsx'
import { DurationFields } from './duration-fields.tsx'
import { expiryAfter } from './expiry.ts'
import { generateDefaults, generateSchema, hasMissingFields, toRequest } from './generate-form.ts'
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
          ? `${generated.length === 1 ? 'The key is' : `${generated.length} keys are`} ready to hand out. You can find them in the list.`
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
  const only = apps.length === 1 ? apps[0]?._id : undefined
  const form = useSchemaForm(generateSchema, {
    defaultValues: { ...generateDefaults, app: appId ?? only ?? '' },
  })
  const { errors } = form.formState
  const [app, unit, duration] = form.watch(['app', 'unit', 'duration'])
  const { app: chosen } = useApp(app || undefined)
  const find = useFindApps()
  const customKeys = chosen?.settings.allowCustomLicenseKey ?? false
  const expiry = expiryAfter(duration, unit)

  const submit = form.handleSubmit(
    async (values) => {
      onBusy(true)
      try {
        onGenerated(
          await generate.mutateAsync(toRequest(customKeys ? values : { ...values, key: undefined })),
        )
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
        <p className="-mt-2 text-[0.8125rem] text-fg-muted" aria-live="polite">
          {expiry ? (
            <>
              Expires on <DateText value={expiry} className="font-medium text-fg" />
            </>
          ) : (
            'The expiry date appears here.'
          )}
        </p>
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

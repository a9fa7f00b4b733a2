import type { App, License, Reseller } from '@keyward/contract'
import { useState } from 'react'
import { Controller } from 'react-hook-form'
import { toAppOptions, useApp, useFindApps } from '../../lib/api/apps.ts'
import { useLicenseTypes } from '../../lib/api/license-types.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { useRequest } from '../../lib/form/use-request.ts'
import { oldProgramsWarning } from '../../lib/format/ending.ts'
import { typeSummary } from '../../lib/format/license-type.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FieldsForm } from '../../ui/form-dialog.tsx'
import { ExactInput, NumberInput } from '../../ui/input.tsx'
import { NoteField } from '../../ui/note-field.tsx'
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
import { ResellerField } from './reseller-field.tsx'

export interface GenerateDialogProps {
  onClose: () => void
  apps: App[]
  /** The app that is selected at first. */
  appId: string | undefined
  /** Whose the keys become; without one, a reseller of the app can be chosen. */
  reseller?: Reseller | undefined
}

export function GenerateDialog({ onClose, apps, appId, reseller }: GenerateDialogProps) {
  const [busy, setBusy] = useState(false)
  const [generated, setGenerated] = useState<License[]>()
  return (
    <Dialog
      onClose={onClose}
      busy={busy}
      title={generated ? 'Licenses Generated' : 'Generate License'}
      description={
        generated ? (
          readyText(generated)
        ) : reseller ? (
          <span className="wrap-anywhere">
            Create keys for {reseller.email}. They count against its quota and appear in its portal.
          </span>
        ) : (
          'Create keys for one of your apps. They are valid immediately.'
        )
      }
    >
      {generated ? (
        <GeneratedKeys licenses={generated} onMore={() => setGenerated(undefined)} onDone={onClose} />
      ) : (
        <GenerateForm
          apps={apps}
          appId={appId}
          reseller={reseller}
          onBusy={setBusy}
          onCancel={onClose}
          onGenerated={setGenerated}
        />
      )}
    </Dialog>
  )
}

function readyText(generated: License[]): string {
  const isOne = generated.length === 1
  const subject = isOne ? 'The key is' : `${generated.length} keys are`
  const object = isOne ? 'it' : 'them'
  const place = generated[0]?.reseller
    ? `The reseller finds ${object} in its portal.`
    : `You can find ${object} in the list.`
  return `${subject} ready to hand out. ${place}`
}

interface GenerateFormProps {
  apps: App[]
  appId: string | undefined
  reseller: Reseller | undefined
  onBusy: (busy: boolean) => void
  onCancel: () => void
  onGenerated: (licenses: License[]) => void
}

function GenerateForm({ apps, appId, reseller, onBusy, onCancel, onGenerated }: GenerateFormProps) {
  const generate = useGenerateLicenses()
  const send = useRequest(toRequest)
  const only = apps.length === 1 ? apps[0]?._id : undefined
  const form = useSchemaForm(generateSchema, {
    defaultValues: { ...generateDefaults, app: appId ?? only ?? '', reseller: reseller?._id },
  })
  const { errors } = form.formState
  const [app, term, unit, duration] = form.watch(['app', 'term', 'unit', 'duration'])
  const { app: chosen } = useApp(app || undefined)
  const find = useFindApps()
  const customKeys = chosen?.settings.allowCustomLicenseKey ?? false
  const types = useLicenseTypes(chosen?._id).data ?? []
  const type = types.find(({ _id }) => _id === term)
  const isForever = term === 'forever' || type?.term === 'forever'
  const mayLink = useMay()(wire.clients.update) && !reseller
  const warning = isForever ? oldProgramsWarning(chosen) : undefined

  const onInvalid = () => {
    if (!hasMissingFields(form.getValues())) return
    toast.error('Missing fields', { description: 'Please fill in all required fields.' })
  }
  const submit = useSubmit({ form, onBusy, onInvalid }, async (values) => {
    const sentValues = customKeys ? values : { ...values, key: undefined }
    onGenerated(await send(sentValues, generate.mutateAsync))
  })

  return (
    <FieldsForm
      onSubmit={submit}
      submitLabel="Generate License"
      busy={generate.isPending}
      onCancel={onCancel}
    >
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
                form.resetField('reseller')
              }}
              options={toAppOptions(apps, chosen)}
              find={find}
              placeholder="Choose an application"
              disabled={reseller !== undefined}
            />
          )}
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
                ...types.map(({ _id, name }) => ({ value: _id, label: `Type: ${name}` })),
                ...termOptions,
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
      {!reseller && chosen && (
        <Controller
          control={form.control}
          name="reseller"
          render={({ field }) => (
            <ResellerField app={chosen._id} value={field.value} onChange={field.onChange} />
          )}
        />
      )}
      <Field
        label="Amount"
        hint="1 to 100 keys at a time"
        error={errors.amount?.message}
        action={
          reseller ? (
            <span className="text-[0.8125rem] text-fg-muted tabular-nums">
              {formatNumber(reseller.remaining_licenses)} left
            </span>
          ) : (
            <LicensesLeft app={chosen?._id} />
          )
        }
      >
        <NumberInput max={100} {...form.register('amount', { valueAsNumber: true })} />
      </Field>
      {mayLink && (
        <Field
          label="Customer"
          optional
          hint="The email address of the buyer. A new address adds a customer."
          error={errors.customer?.message}
        >
          <ExactInput inputMode="email" maxLength={254} {...form.register('customer')} />
        </Field>
      )}
      <NoteField example="an order number" form={form.register('note')} error={errors.note?.message} />
      {customKeys && (
        <Field
          label="Custom key"
          optional
          hint="6 to 100 letters, digits, - or _. Leave it empty for a random key."
          error={errors.key?.message}
        >
          <ExactInput className="font-mono" {...form.register('key')} />
        </Field>
      )}
    </FieldsForm>
  )
}

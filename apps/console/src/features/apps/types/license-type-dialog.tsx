import type { App, LicenseType } from '@keyward/contract'
import { useState } from 'react'
import { useSchemaForm, useSubmit } from '../../../lib/form/schema-form.ts'
import { oldProgramsWarning } from '../../../lib/format/ending.ts'
import { Choice } from '../../../ui/choice.tsx'
import { Field } from '../../../ui/field.tsx'
import { FormDialog } from '../../../ui/form-dialog.tsx'
import { FormSelect } from '../../../ui/form-select.tsx'
import { ExactInput, Input, NumberInput } from '../../../ui/input.tsx'
import { Callout } from '../../../ui/states.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { toBody, toForm, typeSchema } from './license-type-fields.ts'
import { useSaveLicenseType } from './license-types-queries.ts'

const terms = [
  { value: 'first_use', label: 'From first use' },
  { value: 'date', label: 'From creation' },
  { value: 'forever', label: 'Never expires' },
]
const units = ['hours', 'days', 'months', 'years'].map((unit) => ({
  value: unit,
  label: `${unit[0]?.toUpperCase()}${unit.slice(1)}`,
}))
const bounds = [
  { value: 'devices', label: 'A number of devices' },
  { value: 'any', label: 'Any number of devices' },
  { value: 'seats', label: 'Floating seats' },
]

interface LicenseTypeDialogProps {
  app: App
  /** Undefined for a new type. */
  type: LicenseType | undefined
  onClose: () => void
}

/** The form of a new or an existing license type. */
export function LicenseTypeDialog({ app, type, onClose }: LicenseTypeDialogProps) {
  const save = useSaveLicenseType(app._id)
  const [applyTo, setApplyTo] = useState<'new' | 'all'>('new')
  // The list may load the type again while this form shows the values from before.
  const [opened] = useState(type)
  const form = useSchemaForm(typeSchema, { defaultValues: toForm(opened) })
  const { errors } = form.formState
  const [term, bound, trial, resellable] = form.watch(['term', 'bound', 'trial', 'resellable'])
  const warning = term === 'forever' ? oldProgramsWarning(app) : undefined

  const submit = useSubmit({ form, onDone: onClose }, (values) =>
    save.mutateAsync({ ...(opened && { opened }), body: toBody(values), applyTo }),
  )

  return (
    <FormDialog
      onClose={onClose}
      busy={save.isPending}
      size="lg"
      title={type ? `Edit ${type.name}` : 'New License Type'}
      description={app.name}
      onSubmit={submit}
      submitLabel={type ? 'Save Type' : 'Create Type'}
    >
      <Field label="Name" error={errors.name?.message}>
        <Input maxLength={60} autoComplete="off" {...form.register('name')} />
      </Field>
      <div className="grid items-start gap-3 sm:grid-cols-2">
        <Field label="Term">
          <FormSelect control={form.control} name="term" options={terms} />
        </Field>
        {term !== 'forever' && (
          <div className="grid grid-cols-2 items-start gap-3">
            <Field label="Duration" error={errors.amount?.message}>
              <NumberInput {...form.register('amount', { valueAsNumber: true })} />
            </Field>
            <Field label="Unit">
              <FormSelect control={form.control} name="unit" options={units} />
            </Field>
          </div>
        )}
      </div>
      {warning && <Callout tone="warning">{warning}</Callout>}
      <div className="grid items-start gap-3 sm:grid-cols-2">
        <Field label="Use">
          <FormSelect control={form.control} name="bound" options={bounds} />
        </Field>
        {bound !== 'any' && (
          <Field label={bound === 'seats' ? 'Seats' : 'Devices'} error={errors.places?.message}>
            <NumberInput {...form.register('places', { valueAsNumber: true })} />
          </Field>
        )}
      </div>
      <div className="grid items-start gap-3 sm:grid-cols-2">
        <Field
          label="Grace days"
          hint="Access continues for these days after the end"
          error={errors.graceDays?.message}
        >
          <NumberInput min={0} max={90} {...form.register('graceDays', { valueAsNumber: true })} />
        </Field>
        <Field
          label="Days of updates"
          optional
          hint="Empty: covers every version"
          error={errors.updatesForDays?.message}
        >
          <NumberInput {...form.register('updatesForDays', { valueAsNumber: true })} />
        </Field>
      </div>
      <div className="grid items-start gap-3 sm:grid-cols-2">
        <Field
          label="Features"
          optional
          hint="Names such as pro, export"
          error={errors.features && (errors.features.message ?? 'Check the names of the features')}
        >
          <ExactInput {...form.register('features')} />
        </Field>
        <Field
          label="Key prefix"
          optional
          hint="Generated keys start with it"
          error={errors.keyPrefix?.message}
        >
          <ExactInput className="font-mono" maxLength={16} {...form.register('keyPrefix')} />
        </Field>
      </div>
      <Switch
        label="Trial"
        description="Your program can offer it once on each device."
        checked={trial}
        onChange={(checked) => form.setValue('trial', checked)}
      />
      <Switch
        label="For Resellers"
        description={`Resellers of ${app.name} can generate licenses of this type.`}
        checked={resellable}
        onChange={(checked) => form.setValue('resellable', checked)}
      />
      {type && (
        <div className="grid gap-2">
          <Choice
            label="Apply the change to"
            value={applyTo}
            onChange={setApplyTo}
            options={[
              { value: 'new', label: 'New licenses only' },
              { value: 'all', label: 'Sold licenses too' },
            ]}
          />
          <p className="text-[0.8125rem] text-fg-muted">
            {applyTo === 'new'
              ? 'Licenses keep what they were sold with.'
              : 'Sold licenses get the devices, seats, features, grace days and days of updates. The term changes only for licenses whose first use has not come yet.'}
          </p>
        </div>
      )}
    </FormDialog>
  )
}

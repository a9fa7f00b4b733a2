import { limits, type Reseller } from '@keyward/contract'
import { useState } from 'react'
import { z } from 'zod'
import { showFieldErrors } from '../../lib/form/field-errors.ts'
import { useSchemaForm } from '../../lib/form/schema-form.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { amountOf } from '../../lib/format/words.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { NumberInput } from '../../ui/input.tsx'
import { useEditLimit } from './queries.ts'
import { previewLimit } from './summary.ts'

const invalid = 'Please enter a valid license limit (0 or greater)'
const schema = z.object({
  licenseLimit: z
    .int(invalid)
    .min(0, invalid)
    .max(limits.resellerLicensesMax, 'License limit cannot exceed 10,000'),
})

export function EditLimitDialog({ reseller, onClose }: { reseller: Reseller; onClose: () => void }) {
  const edit = useEditLimit()
  const [unsure, setUnsure] = useState<number>()
  // The list may load the reseller again while this dialog shows the limit from before.
  const [seen] = useState({ licenseLimit: reseller.allowed_license_keys })
  const form = useSchemaForm(schema, {
    mode: 'onChange',
    defaultValues: seen,
  })
  const { errors } = form.formState
  const used = reseller.created_licenses
  const preview = errors.licenseLimit ? undefined : previewLimit(form.watch('licenseLimit'), used)

  const save = (licenseLimit: number) =>
    edit.mutate(
      { id: reseller._id, licenseLimit, seen },
      {
        onSuccess: onClose,
        onError: (error) => {
          setUnsure(undefined)
          showFieldErrors(form, error)
        },
      },
    )
  const submit = form.handleSubmit(({ licenseLimit }) => {
    if (licenseLimit < used) setUnsure(licenseLimit)
    else save(licenseLimit)
  })

  if (unsure !== undefined) {
    return (
      <ConfirmDialog
        title="Set the limit below the licenses already created?"
        description={`This reseller has already created ${amountOf(used, 'license')}. The new limit is ${formatNumber(unsure)}. Do you want to continue?`}
        loss="These licenses stay valid, but the reseller cannot create more until some are deleted."
        tone="neutral"
        confirmLabel="Continue"
        cancelLabel="Back"
        busy={edit.isPending}
        onConfirm={() => save(unsure)}
        onClose={() => setUnsure(undefined)}
      />
    )
  }
  return (
    <FormDialog
      onClose={onClose}
      busy={edit.isPending}
      title="Edit Reseller License Limit"
      description={
        <span className="wrap-anywhere">
          {reseller.email}, {reseller.app_id.name}
        </span>
      }
      onSubmit={submit}
      submitLabel="Update Limit"
    >
      <Field
        label="License Limit"
        hint="Maximum number of licenses, 0 to 10,000"
        error={errors.licenseLimit?.message}
      >
        <NumberInput
          {...form.register('licenseLimit', { valueAsNumber: true })}
          min={0}
          max={limits.resellerLicensesMax}
        />
      </Field>
      <dl
        aria-label="Preview"
        aria-live="polite"
        className="grid grid-cols-3 divide-x rounded-lg border bg-sunken text-center"
      >
        <Figure label="New limit" value={preview?.limit} />
        <Figure label="Used" value={used} />
        <Figure label="Remaining" value={preview?.remaining} />
      </dl>
      {preview?.belowUsed && (
        <p className="text-[0.8125rem] text-warning-text">
          This is below the {amountOf(used, 'license')} already created.
        </p>
      )}
    </FormDialog>
  )
}

function Figure({ label, value }: { label: string; value: number | undefined }) {
  return (
    <div className="grid justify-items-center gap-0.5 px-2 py-2.5">
      <dt className="order-last text-[0.8125rem] text-fg-muted">{label}</dt>
      <dd className="font-semibold text-lg tabular-nums">{formatNumber(value) ?? '—'}</dd>
    </div>
  )
}

import type { ReactNode } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import type { z } from 'zod'
import { serverNow } from '../lib/api/server-time.ts'
import { useSchemaForm } from '../lib/form/schema-form.ts'
import { addDuration } from '../lib/format/dates.ts'
import { DateText } from './date.tsx'
import { Dialog, DialogBody, DialogForm, FormFooter } from './dialog.tsx'
import { Facts } from './facts.tsx'
import { Field } from './field.tsx'
import { Input } from './input.tsx'

export interface DaysDialogProps {
  title: string
  schema: z.ZodType<{ days: number }, { days: number }>
  max: number
  /** The current expiry dates, ISO 8601. Days are added to each, or to now if that is later. */
  ends: string[]
  confirmLabel: string
  busy: boolean
  onSubmit: (days: number) => void
  onClose: () => void
  children?: ReactNode
}

/** Asks for the days to add to many expiry dates, and previews the result. */
export function DaysDialog({
  title,
  schema,
  max,
  ends,
  confirmLabel,
  busy,
  onSubmit,
  onClose,
  children,
}: DaysDialogProps) {
  const form = useSchemaForm(schema, { defaultValues: { days: 30 } })
  const days = form.watch('days')
  const valid = schema.safeParse({ days }).success
  const now = serverNow()
  const times = ends.map((end) => Date.parse(end))
  const past = times.filter((time) => time < now).length
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const after = (time: number) => addDuration(Math.max(now, time), days, 'days').getTime()
  return (
    <Dialog
      onClose={onClose}
      busy={busy}
      title={title}
      description="The days are added to each current expiry. Expired ones count from now."
    >
      <DialogForm onSubmit={form.handleSubmit((values) => onSubmit(values.days))}>
        <DialogBody>
          <DaysField form={form} max={max} />
          <div aria-live="polite" className="rounded-lg border px-4 py-1">
            <Facts
              items={[
                { label: 'Current expiry', value: <Range from={first} to={last} /> },
                { label: 'New expiry', value: valid ? <Range from={after(first)} to={after(last)} /> : '—' },
                ...(past > 0 ? [{ label: 'Expired now', value: `${past} of ${ends.length}` }] : []),
              ]}
            />
          </div>
          {children}
        </DialogBody>
        <FormFooter submitLabel={confirmLabel} busy={busy} onCancel={onClose} />
      </DialogForm>
    </Dialog>
  )
}

export interface DaysFieldProps {
  form: UseFormReturn<{ days: number }, unknown, { days: number }>
  max: number
}

export function DaysField({ form, max }: DaysFieldProps) {
  const hint = `1 to ${max.toLocaleString()} days`
  return (
    <Field label="Days" hint={hint} error={form.formState.errors.days && `Enter a whole number, ${hint}`}>
      <Input
        type="number"
        inputMode="numeric"
        min={1}
        max={max}
        step={1}
        {...form.register('days', { valueAsNumber: true })}
      />
    </Field>
  )
}

function Range({ from, to }: { from: number; to: number }) {
  return (
    <>
      <DateText value={from} />
      {to !== from && (
        <>
          {' to '}
          <DateText value={to} />
        </>
      )}
    </>
  )
}

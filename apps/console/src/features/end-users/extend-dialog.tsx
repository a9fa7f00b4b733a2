import { endpoints, limits } from '@keyward/contract'
import { addDuration } from '../../lib/dates.ts'
import { showFieldErrors, useSchemaForm } from '../../lib/form.ts'
import { Button } from '../../ui/button.tsx'
import { DateText } from '../../ui/date.tsx'
import { Dialog, DialogBody, DialogFooter, DialogForm } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import type { EndUserDialogProps } from './confirm-dialogs.tsx'
import { useExtend } from './queries.ts'

const schema = endpoints.clients.extend.body!
const hint = `1 to ${limits.extendDaysMax.toLocaleString('en-US')} days`

export function ExtendDialog({ user, onClose }: EndUserDialogProps) {
  const extend = useExtend()
  const form = useSchemaForm(schema, { defaultValues: { days: 30 } })
  const days = form.watch('days')
  const expired = Date.parse(user.expiresAt) < Date.now()
  const valid = schema.safeParse({ days }).success
  const next = valid ? addDuration(expired ? Date.now() : user.expiresAt, days, 'days') : undefined

  const submit = form.handleSubmit((values) =>
    extend.mutate(
      { id: user._id, days: values.days },
      { onSuccess: onClose, onError: (error) => showFieldErrors(form, error) },
    ),
  )

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      busy={extend.isPending}
      title={`Extend ${user.username}`}
      description={
        expired
          ? 'The subscription has expired: the days are counted from now.'
          : 'The days are added to the present expiry.'
      }
    >
      <DialogForm onSubmit={submit}>
        <DialogBody>
          <Field
            label="Days"
            hint={hint}
            error={form.formState.errors.days && `Enter a whole number, ${hint}`}
          >
            <Input
              type="number"
              inputMode="numeric"
              min={1}
              max={limits.extendDaysMax}
              step={1}
              {...form.register('days', { valueAsNumber: true })}
            />
          </Field>
          <div aria-live="polite" className="rounded-lg border px-4 py-1">
            <Facts
              items={[
                { label: 'Present expiry', value: <DateText value={user.expiresAt} /> },
                { label: 'New expiry', value: <DateText value={next} /> },
              ]}
            />
          </div>
          {user.licenseKey && (
            <p className="text-[0.8125rem] text-fg-muted">The license of this user gets the same expiry.</p>
          )}
        </DialogBody>
        <DialogFooter>
          <Button onClick={onClose} disabled={extend.isPending}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" loading={extend.isPending}>
            Extend
          </Button>
        </DialogFooter>
      </DialogForm>
    </Dialog>
  )
}

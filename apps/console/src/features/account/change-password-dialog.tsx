import { auth as authEndpoints } from '@keyward/contract/auth'
import { z } from 'zod'
import { call } from '../../lib/api/call.ts'
import { ownerSession } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { Dialog, DialogBody, DialogForm, FormFooter } from '../../ui/dialog.tsx'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { Field } from '../../ui/field.tsx'
import { PasswordInput } from '../../ui/input.tsx'
import { StrengthMeter } from '../../ui/strength-meter.tsx'
import { toast } from '../../ui/toast.tsx'

const schema = authEndpoints.changePassword
  .body!.extend({ confirm: z.string() })
  .refine((values) => values.newPassword === values.confirm, {
    path: ['confirm'],
    message: 'Passwords do not match',
  })

export function ChangePasswordDialog({ email, onClose }: { email: string; onClose: () => void }) {
  const change = useWrite({
    mutationFn: (body: { currentPassword: string; newPassword: string }) =>
      call(wire.auth.changePassword, { body }),
    onSuccess: ({ token }) => {
      ownerSession.set(token)
      toast.success('Password changed', { description: 'You have been logged out on all other devices.' })
      onClose()
    },
  })
  const form = useSchemaForm(schema, { defaultValues: { currentPassword: '', newPassword: '', confirm: '' } })
  const { errors } = form.formState
  const submit = form.handleSubmit(({ confirm: _, ...body }) =>
    change.mutate(body, {
      onError: (error) => {
        if (!showFieldErrors(form, error)) toastFailure(error, 'Failed to change password')
      },
    }),
  )
  return (
    <Dialog
      onClose={onClose}
      busy={change.isPending}
      title="Change Password"
      description="The new password logs you out on all other devices."
    >
      <DialogForm onSubmit={submit}>
        <DialogBody>
          <input type="email" autoComplete="username" value={email} readOnly hidden />
          <Field label="Current Password" error={errors.currentPassword?.message}>
            <PasswordInput {...form.register('currentPassword')} autoComplete="current-password" />
          </Field>
          <Field label="New Password" error={errors.newPassword?.message}>
            <PasswordInput {...form.register('newPassword')} autoComplete="new-password" />
          </Field>
          <StrengthMeter password={form.watch('newPassword')} />
          <Field label="Confirm New Password" error={errors.confirm?.message}>
            <PasswordInput {...form.register('confirm')} autoComplete="new-password" />
          </Field>
        </DialogBody>
        <FormFooter submitLabel="Change Password" busy={change.isPending} onCancel={onClose} />
      </DialogForm>
    </Dialog>
  )
}

import { auth as authEndpoints } from '@keyward/contract/auth'
import { z } from 'zod'
import { call } from '../../lib/api/call.ts'
import { ownerSession } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
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
  const onFailure = (error: unknown) => toastFailure(error, 'Failed to change password')
  const submit = useSubmit({ form, onFailure }, ({ confirm: _, ...body }) => change.mutateAsync(body))
  return (
    <FormDialog
      onClose={onClose}
      busy={change.isPending}
      title="Change Password"
      description="The new password logs you out on all other devices."
      onSubmit={submit}
      submitLabel="Change Password"
    >
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
    </FormDialog>
  )
}

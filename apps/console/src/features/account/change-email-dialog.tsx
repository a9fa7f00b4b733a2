import { auth as authEndpoints } from '@keyward/contract/auth'
import { useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Input, PasswordInput } from '../../ui/input.tsx'
import { toast } from '../../ui/toast.tsx'

export function ChangeEmailDialog({ email, onClose }: { email: string; onClose: () => void }) {
  const client = useQueryClient()
  const change = useWrite({
    mutationFn: (body: { email: string; password: string }) => call(wire.auth.changeEmail, { body }),
    onSuccess: ({ user }) => {
      client.setQueryData(keys.owner, user)
      toast.success('Email updated', { description: `You now sign in as ${user.email}.` })
      onClose()
    },
  })
  const form = useSchemaForm(authEndpoints.changeEmail.body!, { defaultValues: { email: '', password: '' } })
  const { errors } = form.formState
  const onFailure = (error: unknown) => toastFailure(error, 'Failed to update email')
  const submit = useSubmit({ form, onFailure }, (body) => change.mutateAsync(body))
  return (
    <FormDialog
      onClose={onClose}
      busy={change.isPending}
      title="Update Email"
      description={`You currently sign in as ${email}.`}
      onSubmit={submit}
      submitLabel="Update Email"
    >
      <Field label="New Email" error={errors.email?.message}>
        <Input {...form.register('email')} type="email" autoComplete="email" />
      </Field>
      <Field label="Password" hint="Confirms that it is you." error={errors.password?.message}>
        <PasswordInput {...form.register('password')} autoComplete="current-password" />
      </Field>
    </FormDialog>
  )
}

import { clients as clientsEndpoints } from '@keyward/contract/clients'
import { z } from 'zod'
import { toAppOptions, useApp, useFindApps } from '../../lib/api/apps.ts'
import { serverNow } from '../../lib/api/server-time.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { endOfLocalDay, toDayInput } from '../../lib/format/dates.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { FormSelect } from '../../ui/form-select.tsx'
import { ExactInput, Input, PasswordInput } from '../../ui/input.tsx'
import { useCreateEndUser } from './queries.ts'

const { username, password, appId, hwid } = clientsEndpoints.createDirect.body!.shape
const earliest = '1900-01-01'
const latest = '9999-12-31'

const schema = z.object({
  username,
  password,
  appId,
  hwid: hwid.unwrap().unwrap(),
  expiresAt: z.iso
    .date('Choose an expiry date')
    .refine((day) => day >= earliest && day >= toDayInput(serverNow()), 'The expiry date is in the past'),
})

export interface CreateEndUserDialogProps {
  onClose: () => void
  apps: { _id: string; name: string }[]
  /** The app that is selected at first. */
  appId: string | undefined
}

export function CreateEndUserDialog({ onClose, apps, appId: chosen }: CreateEndUserDialogProps) {
  const create = useCreateEndUser()
  const only = apps.length === 1 ? apps[0]?._id : undefined
  const form = useSchemaForm(schema, {
    mode: 'onTouched',
    defaultValues: { username: '', password: '', appId: chosen ?? only ?? '', hwid: '', expiresAt: '' },
  })
  const { errors, isValid } = form.formState
  const { app } = useApp(form.watch('appId') || undefined)
  const find = useFindApps()

  const submit = useSubmit({ form, onDone: onClose }, (values) =>
    create.mutateAsync({ ...values, hwid: values.hwid || null, expiresAt: endOfLocalDay(values.expiresAt) }),
  )

  return (
    <FormDialog
      onClose={onClose}
      busy={create.isPending}
      title="Create End User"
      description="Gives a user access without a license key. They sign in to your program with these credentials."
      onSubmit={submit}
      autoComplete="off"
      submitLabel="Create User"
      disabled={!isValid}
    >
      <Field label="Username" hint="At least 3 characters" error={errors.username?.message}>
        <ExactInput {...form.register('username')} />
      </Field>
      <Field label="Password" hint="At least 6 characters" error={errors.password?.message}>
        <PasswordInput autoComplete="new-password" {...form.register('password')} />
      </Field>
      <Field label="Application" error={errors.appId && 'Choose an application'}>
        <FormSelect
          control={form.control}
          name="appId"
          options={toAppOptions(apps, app)}
          find={find}
          placeholder="Choose an application"
        />
      </Field>
      <Field label="Expiry Date" hint="Valid until the end of this day" error={errors.expiresAt?.message}>
        <Input type="date" min={toDayInput(serverNow())} max={latest} {...form.register('expiresAt')} />
      </Field>
      <Field
        label="Hardware ID"
        optional
        hint="If empty, binds the first device that signs in"
        error={errors.hwid?.message}
      >
        <ExactInput className="font-mono" {...form.register('hwid')} />
      </Field>
    </FormDialog>
  )
}

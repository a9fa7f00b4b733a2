import type { App } from '@keyward/contract'
import { apps as appsEndpoints } from '@keyward/contract/apps'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { useRequest } from '../../lib/form/use-request.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Input } from '../../ui/input.tsx'
import { useCreateApp } from './queries.ts'

export interface CreateAppDialogProps {
  onClose: () => void
  onCreated: (app: App) => void
}

export function CreateAppDialog({ onClose, onCreated }: CreateAppDialogProps) {
  const create = useCreateApp()
  const form = useSchemaForm(appsEndpoints.create.body!, { defaultValues: { name: '' } })
  const send = useRequest((values: { name: string }) => values)
  const submit = useSubmit({ form, onDone: onCreated }, (values) => send(values, create.mutateAsync))
  return (
    <FormDialog
      onClose={onClose}
      busy={create.isPending}
      title="Add New App"
      description="Each app has its own identifier, secret and signing key."
      onSubmit={submit}
      submitLabel="Create App"
    >
      <Field
        label="App Name"
        hint="You can change the name at any time."
        error={form.formState.errors.name?.message}
      >
        <Input {...form.register('name')} autoComplete="off" placeholder="Acme Studio" />
      </Field>
    </FormDialog>
  )
}

import { type App, version } from '@keyward/contract'
import { apps as appsEndpoints } from '@keyward/contract/apps'
import { useState } from 'react'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Input } from '../../ui/input.tsx'
import { useUpdateApp } from './queries.ts'

const schema = appsEndpoints.create.body!.extend({ version })

export function EditAppDialog({ app, onClose }: { app: App; onClose: () => void }) {
  const update = useUpdateApp()
  // The list may load the app again while this dialog shows the values from before.
  const [seen] = useState({ name: app.name, version: app.version })
  const form = useSchemaForm(schema, { defaultValues: seen })
  const { errors } = form.formState
  const submit = useSubmit({ form, onDone: onClose }, (values) =>
    update.mutateAsync({ id: app._id, ...values, seen }),
  )
  return (
    <FormDialog
      onClose={onClose}
      busy={update.isPending}
      title="Edit App"
      onSubmit={submit}
      submitLabel="Save Changes"
    >
      <Field label="App Name" error={errors.name?.message}>
        <Input {...form.register('name')} autoComplete="off" />
      </Field>
      <Field
        label="Version"
        hint="Programs that report another version learn that an update is available."
        error={errors.version?.message}
      >
        <Input {...form.register('version')} autoComplete="off" placeholder="1.0.0" className="font-mono" />
      </Field>
      <Field label="App ID" hint="You cannot change the app ID, because your programs contain it.">
        <Input value={app.appId} readOnly className="font-mono" />
      </Field>
    </FormDialog>
  )
}

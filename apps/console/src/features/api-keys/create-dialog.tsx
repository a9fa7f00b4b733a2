import { limits } from '@keyward/contract'
import { useState } from 'react'
import { useAppsField } from '../../lib/api/apps.ts'
import { useDraft } from '../../lib/form/drafts.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { toDayInput } from '../../lib/format/dates.ts'
import { OnceDialog } from '../../ui/confirm-dialog.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FieldsForm } from '../../ui/form-dialog.tsx'
import { FormSelect } from '../../ui/form-select.tsx'
import { Input, Textarea } from '../../ui/input.tsx'
import { SomeField } from '../../ui/some-field.tsx'
import { createDefaults, createSchema, expiries, toRequest } from './create-form.ts'
import { CreatedKey } from './created-key.tsx'
import { PermissionFields } from './permission-fields.tsx'
import { type CreatedApiKey, useCreateApiKey } from './queries.ts'

export interface CreateDialogProps {
  created: CreatedApiKey | undefined
  onCreated: (created: CreatedApiKey) => void
  onClose: () => void
}

export function CreateDialog({ created, onCreated, onClose }: CreateDialogProps) {
  const [busy, setBusy] = useState(false)
  // A session that expires must not take away a key that cannot be shown again.
  useDraft<CreatedApiKey | null>({
    opened: null,
    read: () => created ?? null,
    restore: (kept) => kept && onCreated(kept),
  })
  if (created) {
    return (
      <OnceDialog
        title="API Key Created"
        description={created.apiKey.name}
        question={[
          'Close the key?',
          'You cannot see it again. If you did not save it, revoke it and create another one.',
        ]}
        onClose={onClose}
      >
        <CreatedKey created={created} onDone={onClose} />
      </OnceDialog>
    )
  }
  return (
    <Dialog
      onClose={onClose}
      busy={busy}
      title="Create API Key"
      description="For a script or service of your own. Programs of your customers never need one."
    >
      <CreateForm onBusy={setBusy} onCancel={onClose} onCreated={onCreated} />
    </Dialog>
  )
}

interface CreateFormProps {
  onBusy: (busy: boolean) => void
  onCancel: () => void
  onCreated: (created: CreatedApiKey) => void
}

function CreateForm({ onBusy, onCancel, onCreated }: CreateFormProps) {
  const create = useCreateApiKey()
  const appsField = useAppsField()
  const form = useSchemaForm(createSchema, { defaultValues: createDefaults })
  const { errors } = form.formState
  const { permissions, apps, expiry } = form.watch()
  const change = { shouldValidate: true, shouldDirty: true }

  const submit = useSubmit({ form, onBusy }, async (values) => {
    onCreated(await create.mutateAsync(toRequest(values)))
  })
  // The server names the line of a network: `networks.2`.
  const networksError =
    errors.networks?.message ??
    (Object.values(errors.networks ?? {}) as ({ message?: string } | undefined)[])
      .map((line) => line?.message)
      .find((message) => message !== undefined)

  return (
    <FieldsForm
      onSubmit={submit}
      autoComplete="off"
      submitLabel="Create Key"
      busy={create.isPending}
      onCancel={onCancel}
    >
      <Field label="Name" error={errors.name?.message}>
        <Input
          {...form.register('name')}
          placeholder="What will use it, for example Web shop"
          maxLength={limits.apiKeyNameMax}
        />
      </Field>
      <PermissionFields
        value={permissions}
        onChange={(value) => form.setValue('permissions', value, change)}
        error={errors.permissions?.message}
      />
      <SomeField
        {...appsField}
        value={apps ?? null}
        onChange={(value) =>
          form.setValue('apps', value, { shouldDirty: true, shouldValidate: value?.length !== 0 })
        }
        max={limits.apiKeyAppsMax}
        error={errors.apps?.message}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Expires">
          <FormSelect control={form.control} name="expiry" options={expiries} />
        </Field>
        {expiry === 'date' && (
          <Field label="Last day" error={errors.expiresAt?.message}>
            <Input {...form.register('expiresAt')} type="date" min={toDayInput(new Date())} />
          </Field>
        )}
      </div>
      <Field
        label="Networks"
        optional
        hint="One address or network per line, for example 203.0.113.0/24. Empty: it works everywhere."
        error={networksError}
      >
        <Textarea {...form.register('networks')} rows={2} spellCheck={false} className="font-mono" />
      </Field>
    </FieldsForm>
  )
}

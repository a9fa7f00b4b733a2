import { type App, type DataOf, type endpoints, limits } from '@keyward/contract'
import { resellers as resellersEndpoints } from '@keyward/contract/resellers'
import { Crown } from 'lucide-react'
import { useState } from 'react'
import { toAppOptions, useApp, useFindApps } from '../../lib/api/apps.ts'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useDraft } from '../../lib/form/drafts.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { OnceDialog } from '../../ui/confirm-dialog.tsx'
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FieldsForm } from '../../ui/form-dialog.tsx'
import { FormSelect } from '../../ui/form-select.tsx'
import { Input, NumberInput, PasswordInput } from '../../ui/input.tsx'
import { Callout, EmptyState } from '../../ui/states.tsx'
import { generatePassword } from './generate-password.ts'
import { useCreateReseller } from './queries.ts'
import { ResellerCredentials } from './reseller-credentials.tsx'

export type CreatedReseller = DataOf<typeof endpoints.resellers.create>

export interface CreateResellerDialogProps {
  /** Whether the owner's plan includes resellers. */
  available: boolean
  apps: App[]
  /** The app that is selected at first. */
  appId: string | undefined
  created: CreatedReseller | undefined
  onCreated: (created: CreatedReseller) => void
  onClose: () => void
}

export function CreateResellerDialog(props: CreateResellerDialogProps) {
  const { available, apps, appId, created, onCreated, onClose } = props
  const [busy, setBusy] = useState(false)
  useDraft<CreatedReseller | null>({
    opened: null,
    read: () => created ?? null,
    restore: (kept) => kept && onCreated(kept),
  })
  if (created) {
    return (
      <OnceDialog
        title="Reseller Created"
        description="Give these credentials to the reseller now."
        question={[
          'Close the credentials?',
          'You cannot see the password again. If you did not save it, you must delete the reseller and create a new one.',
        ]}
        onClose={onClose}
      >
        <ResellerCredentials created={created} onDone={onClose} />
      </OnceDialog>
    )
  }
  return (
    <Dialog
      onClose={onClose}
      busy={busy}
      title="Add New Reseller"
      description={available ? 'A reseller generates license keys for one of your apps.' : undefined}
    >
      {available ? (
        <CreateForm apps={apps} appId={appId} onBusy={setBusy} onCancel={onClose} onCreated={onCreated} />
      ) : (
        <Unavailable onClose={onClose} />
      )}
    </Dialog>
  )
}

function Unavailable({ onClose }: { onClose: () => void }) {
  return (
    <>
      <DialogBody>
        <EmptyState
          className="py-6"
          icon={<Crown />}
          title="Resellers are unavailable on the free plan"
          description="Creating resellers is only available for premium subscribers."
        />
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>Close</Button>
        <May call={wire.payments.createOrder}>
          <Button asChild variant="primary" className="max-md:h-11">
            <a href={paths.subscription}>Upgrade to Premium</a>
          </Button>
        </May>
      </DialogFooter>
    </>
  )
}

interface CreateFormProps {
  apps: App[]
  appId: string | undefined
  onBusy: (busy: boolean) => void
  onCancel: () => void
  onCreated: (created: CreatedReseller) => void
}

function CreateForm({ apps, appId, onBusy, onCancel, onCreated }: CreateFormProps) {
  const create = useCreateReseller()
  const [filledIn, setFilledIn] = useState(false)
  const only = apps.length === 1 ? apps[0]?._id : undefined
  const form = useSchemaForm(resellersEndpoints.create.body!, {
    defaultValues: {
      email: '',
      password: '',
      app_id: appId ?? only ?? '',
      allowed_license_keys: limits.resellerLicensesDefault,
    },
  })
  const { errors } = form.formState
  const blocked = apps.length === 0
  const { app } = useApp(form.watch('app_id') || undefined)
  const find = useFindApps()

  const submit = useSubmit({ form, onBusy }, async (values) => {
    const created = create.mutateAsync(values)
    created.catch(() => form.reset())
    onCreated(await created)
  })

  function fillPassword() {
    form.setValue('password', generatePassword(), { shouldValidate: true, shouldDirty: true })
    setFilledIn(true)
  }

  return (
    <FieldsForm
      onSubmit={submit}
      autoComplete="off"
      submitLabel="Create Reseller"
      busy={create.isPending}
      disabled={blocked}
      onCancel={onCancel}
    >
      {blocked && <Callout tone="warning">You need to create an app first before adding resellers.</Callout>}
      <Field label="Email" error={errors.email?.message}>
        <Input
          {...form.register('email')}
          type="email"
          autoComplete="off"
          placeholder="reseller@example.com"
          disabled={blocked}
        />
      </Field>
      <Field
        label="Password"
        hint={`At least ${limits.passwordMin} characters. Shown once more after creation.`}
        error={errors.password?.message}
        action={
          <Button variant="link" onClick={fillPassword} disabled={blocked}>
            Generate Password
          </Button>
        }
      >
        <PasswordInput
          {...form.register('password')}
          autoComplete="new-password"
          className="font-mono"
          disabled={blocked}
        />
      </Field>
      <span className="sr-only" role="status">
        {filledIn && 'Filled in a password of 12 characters'}
      </span>
      <Field label="Application" error={errors.app_id && 'Choose an application'}>
        <FormSelect
          control={form.control}
          name="app_id"
          options={toAppOptions(apps, app)}
          find={find}
          placeholder="Choose an application"
          disabled={blocked}
        />
      </Field>
      <Field
        label="License Key Limit"
        hint="Maximum number of licenses, 1 to 10,000"
        error={errors.allowed_license_keys?.message}
      >
        <NumberInput
          {...form.register('allowed_license_keys', { valueAsNumber: true })}
          max={limits.resellerLicensesMax}
          disabled={blocked}
        />
      </Field>
    </FieldsForm>
  )
}

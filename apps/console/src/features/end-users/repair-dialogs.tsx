import { clients } from '@keyward/contract/clients'
import { z } from 'zod'
import { useApp } from '../../lib/api/apps.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { endUserName, isNamedByKey } from '../../lib/format/end-user-name.ts'
import { oldProgramsWarning } from '../../lib/format/ending.ts'
import { toExtension } from '../../lib/format/extension.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { FormSelect } from '../../ui/form-select.tsx'
import { ExactInput, Input, PasswordInput } from '../../ui/input.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Callout } from '../../ui/states.tsx'
import { type Time, TimeDialog } from '../../ui/time-dialog.tsx'
import type { EndUserDialogProps } from './confirm-dialogs.tsx'
import { useExtend } from './extension-queries.ts'
import { findFreeLicenses, useAddLicense, useFreeLicenses, useRepair, useSetPassword } from './repairs.ts'

const { username, email } = clients.update.body!.shape
const blank = z.literal('').transform(() => null)
const names = z.object({
  username: username.unwrap(),
  email: z.union([blank, email.unwrap().unwrap()]),
})

/** Changes the name and the address of an end user. */
export function EditEndUserDialog({ user, onClose }: EndUserDialogProps) {
  const repair = useRepair()
  const form = useSchemaForm(names, { defaultValues: { username: user.username, email: user.email ?? '' } })
  const { errors } = form.formState
  const signsInByKey = isNamedByKey(user)
  const submit = useSubmit({ form, onDone: onClose }, (values) => {
    const body = {
      ...(values.username !== user.username && { username: values.username }),
      ...(values.email !== user.email && { email: values.email }),
    }
    if (Object.keys(body).length === 0) return undefined
    return repair.mutateAsync({ id: user._id, body })
  })
  return (
    <FormDialog
      onClose={onClose}
      busy={repair.isPending}
      title="Edit End User"
      description={
        signsInByKey
          ? 'Devices and licenses stay.'
          : `Password, devices and licenses stay. ${user.app.name} knows the user by the new name at the next sign-in.`
      }
      onSubmit={submit}
      autoComplete="off"
      submitLabel="Save User"
    >
      {!signsInByKey && (
        <Field label="Username" hint="At least 3 characters" error={errors.username?.message}>
          <ExactInput {...form.register('username')} />
        </Field>
      )}
      <Field label="Email" optional error={errors.email?.message}>
        <Input type="email" autoComplete="off" {...form.register('email')} />
      </Field>
    </FormDialog>
  )
}

/** Sets the end, also an earlier one. Added time is sent as a duration, so that concurrent extensions add up. */
export function EndUserExpiryDialog({ user, onClose }: EndUserDialogProps) {
  const repair = useRepair('Expiry Updated')
  const extend = useExtend()
  const { app } = useApp(user.app._id)
  const { expiresAt } = user
  const writes = [repair, extend]

  function submit(time: Time) {
    if (time.added && !time.fromNow) {
      const body = { action: 'extend' as const, ids: [user._id], ...toExtension(time) }
      extend.mutate({ body }, { onSuccess: onClose })
    } else {
      const body = { expiresAt: time.end?.toISOString() ?? null, seen: { expiresAt } }
      repair.mutate({ id: user._id, body }, { onSuccess: onClose })
    }
  }

  return (
    <TimeDialog
      title="Edit Expiry"
      startsFromNow
      ends={[expiresAt]}
      shorten={{
        label: 'Shorten the subscription',
        warning:
          expiresAt === null
            ? 'The subscription never expires now. This shortens it.'
            : 'The new expiry is earlier than the current one. This shortens the subscription.',
      }}
      neverWarning={oldProgramsWarning(app)}
      facts={[{ label: 'End user', value: <bdi>{endUserName(user)}</bdi> }]}
      submitLabel="Update Expiry"
      busy={writes.some(({ isPending, isSuccess }) => isPending || isSuccess)}
      onSubmit={submit}
      onClose={onClose}
    >
      {user.licenseKey && (
        <p className="text-[0.8125rem] text-fg-muted">The user's first license gets the same expiry.</p>
      )}
    </TimeDialog>
  )
}

const passwords = z.object({ password: clients.createDirect.body!.shape.password })

export function SetPasswordDialog({ user, onClose }: EndUserDialogProps) {
  const set = useSetPassword()
  const form = useSchemaForm(passwords, { defaultValues: { password: '' } })
  const submit = useSubmit({ form, onDone: onClose }, ({ password }) => set.mutateAsync({ user, password }))
  return (
    <FormDialog
      onClose={onClose}
      busy={set.isPending}
      title="Set Password"
      description={
        <>
          <bdi>{endUserName(user)}</bdi> is signed out everywhere and signs in with the new password. Give it
          to the person in a safe way.
        </>
      }
      onSubmit={submit}
      autoComplete="off"
      submitLabel="Set Password"
    >
      <Field
        label="New Password"
        hint="At least 6 characters"
        error={form.formState.errors.password?.message}
      >
        <PasswordInput autoComplete="new-password" {...form.register('password')} />
      </Field>
    </FormDialog>
  )
}

const choice = z.object({ license: z.string().min(1, 'Choose a license') })

/** Gives an end user a further license of its app. */
export function AddLicenseDialog({ user, onClose }: EndUserDialogProps) {
  const add = useAddLicense()
  const free = useFreeLicenses(user.app._id)
  const form = useSchemaForm(choice, { defaultValues: { license: '' } })
  const found = free.data
  const submit = useSubmit({ form, onDone: onClose }, ({ license }) => add.mutateAsync({ user, license }))
  return (
    <FormDialog
      onClose={onClose}
      busy={add.isPending}
      title="Add License"
      description={
        <>
          <bdi>{endUserName(user)}</bdi> gets the time and the features of the license as well, as if the
          program had entered the key.
        </>
      }
      onSubmit={submit}
      submitLabel="Add License"
      disabled={found === undefined || found.total === 0}
    >
      {found === undefined ? (
        <Skeleton className="h-16" />
      ) : found.total === 0 ? (
        <Callout tone="warning">
          {user.app.name} has no unused license. Generate one first, then add it here.
        </Callout>
      ) : (
        <Field label="License" hint="Unused ones of the app" error={form.formState.errors.license?.message}>
          <FormSelect
            control={form.control}
            name="license"
            options={found.options}
            find={
              found.total > found.options.length ? (text) => findFreeLicenses(user.app._id, text) : undefined
            }
            placeholder="Choose a license"
          />
        </Field>
      )}
    </FormDialog>
  )
}

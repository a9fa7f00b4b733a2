import { limits, type Member } from '@keyward/contract'
import { members as endpoints } from '@keyward/contract/members'
import { useState } from 'react'
import { Controller } from 'react-hook-form'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { Dialog, DialogBody, DialogFooter, DoneFooter } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Input } from '../../ui/input.tsx'
import { useInvite } from './queries.ts'
import { AppsField, RoleFields } from './rights-fields.tsx'

interface Invited {
  email: string
  link: string
}

/** Asks whom to invite, then shows the link, which cannot be shown again. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const invite = useInvite()
  const [invited, setInvited] = useState<Invited>()
  const form = useSchemaForm(endpoints.invite.body!, {
    defaultValues: { email: '', role: 'support' },
  })
  const { errors } = form.formState
  const submit = useSubmit({ form }, async (body) => {
    // Without `apps` the API gives access to all apps, so the form asks for a choice.
    if (body.apps === undefined) return form.setError('apps', { message: 'Choose all applications, or some' })
    const { member, link } = await invite.mutateAsync(body)
    setInvited({ email: member.email, link })
  })
  if (invited) return <LinkDialog {...invited} onClose={onClose} />
  return (
    <FormDialog
      onClose={onClose}
      busy={invite.isPending}
      title="Invite a Member"
      description="Members sign in with their own account, which may belong to other teams too."
      onSubmit={submit}
      submitLabel="Invite"
    >
      <Field label="Email" error={errors.email?.message}>
        <Input
          {...form.register('email')}
          type="email"
          autoComplete="off"
          placeholder="colleague@company.com"
        />
      </Field>
      <Controller
        control={form.control}
        name="role"
        render={({ field }) => (
          <RoleFields
            value={{ role: field.value, permissions: form.watch('permissions') }}
            onChange={({ role, permissions }) => {
              field.onChange(role)
              form.setValue('permissions', permissions, { shouldValidate: form.formState.isSubmitted })
            }}
            error={errors.permissions?.message}
          />
        )}
      />
      <Controller
        control={form.control}
        name="apps"
        render={({ field }) => (
          <AppsField value={field.value} onChange={field.onChange} error={errors.apps?.message} />
        )}
      />
    </FormDialog>
  )
}

/** Makes another link for a person who has not accepted. */
export function InviteAgainDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const invite = useInvite()
  const [link, setLink] = useState<string>()
  const { email, role, permissions, apps } = member
  const rights = { role, ...(permissions && { permissions }), apps }
  if (link !== undefined) return <LinkDialog email={email} link={link} onClose={onClose} />
  return (
    <Dialog onClose={onClose} busy={invite.isPending} title={`Invite ${email} again?`}>
      <DialogBody>
        <p className="text-fg-muted">
          You get a new link, which works for {limits.invitationDays} days. The one before stops working.
        </p>
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose} disabled={invite.isPending}>
          Cancel
        </Button>
        <Button
          variant="primary"
          loading={invite.isPending}
          onClick={() => invite.mutate({ email, ...rights }, { onSuccess: (answer) => setLink(answer.link) })}
        >
          Invite Again
        </Button>
      </DialogFooter>
    </Dialog>
  )
}

function LinkDialog({ email, link, onClose }: Invited & { onClose: () => void }) {
  const mailed = usePublicConfig()?.passwordReset === 'mail'
  return (
    <Dialog
      onClose={onClose}
      title="Invitation ready"
      description={
        mailed
          ? `The link is on its way to ${email}. You can also hand it over yourself.`
          : `This server sends no mail: hand this link over to ${email} yourself.`
      }
    >
      <DialogBody>
        <CopyField label="Invitation link" value={link} />
        <p className="text-[0.8125rem] text-fg-muted">
          It works once, for {limits.invitationDays} days. Copy it now: it is not shown again, but you can
          invite the same address again.
        </p>
      </DialogBody>
      <DoneFooter onDone={onClose} />
    </Dialog>
  )
}

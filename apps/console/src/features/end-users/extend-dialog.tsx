import { limits } from '@keyward/contract'
import { clients as clientsEndpoints } from '@keyward/contract/clients'
import { serverNow } from '../../lib/api/server-time.ts'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { useRequest } from '../../lib/form/use-request.ts'
import { addDuration } from '../../lib/format/dates.ts'
import { DateText } from '../../ui/date.tsx'
import { DaysField } from '../../ui/days-dialog.tsx'
import { Dialog, DialogBody, DialogForm, FormFooter } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import type { EndUserDialogProps } from './confirm-dialogs.tsx'
import { useExtend } from './queries.ts'

const schema = clientsEndpoints.extend.body!

export function ExtendDialog({ user, onClose }: EndUserDialogProps) {
  const extend = useExtend()
  const send = useRequest((values: { days: number }) => values)
  const form = useSchemaForm(schema, { defaultValues: { days: 30 } })
  const days = form.watch('days')
  const ends = user.expiresAt === null ? 0 : Date.parse(user.expiresAt)
  const expired = ends < serverNow()
  const valid = schema.safeParse({ days }).success
  const next = valid ? addDuration(Math.max(serverNow(), ends), days, 'days') : undefined

  const submit = form.handleSubmit(async (values) => {
    try {
      await send(values, (request) => extend.mutateAsync({ id: user._id, ...request }))
      onClose()
    } catch (error) {
      showFieldErrors(form, error)
    }
  })

  return (
    <Dialog
      onClose={onClose}
      busy={extend.isPending}
      title={
        <>
          Extend <bdi>{user.username}</bdi>
        </>
      }
      description={
        expired
          ? 'The subscription has expired, so the days count from now.'
          : 'The days are added to the current expiry.'
      }
    >
      <DialogForm onSubmit={submit}>
        <DialogBody>
          <DaysField form={form} max={limits.extendDaysMax} />
          <div aria-live="polite" className="rounded-lg border px-4 py-1">
            <Facts
              items={[
                { label: 'Current expiry', value: <DateText value={user.expiresAt} none="Never" /> },
                { label: 'New expiry', value: <DateText value={next} /> },
              ]}
            />
          </div>
          {user.licenseKey && (
            <p className="text-[0.8125rem] text-fg-muted">The user's license gets the same expiry.</p>
          )}
        </DialogBody>
        <FormFooter submitLabel="Extend" busy={extend.isPending} onCancel={onClose} />
      </DialogForm>
    </Dialog>
  )
}

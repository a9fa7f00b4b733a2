import { limits, type Webhook } from '@keyward/contract'
import { useState } from 'react'
import { useOwner } from '../../lib/api/account.ts'
import { useAppsField } from '../../lib/api/apps.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { Choice } from '../../ui/choice.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Input } from '../../ui/input.tsx'
import { SomeField } from '../../ui/some-field.tsx'
import { toast } from '../../ui/toast.tsx'
import { EventsField } from './events-field.tsx'
import { type ShownSecret, useCreateWebhook, useUpdateWebhook } from './queries.ts'
import { toChanges, toDefaults, toRequest, type WebhookValues, webhookSchema } from './webhook-form.ts'

const formatHints = {
  standard: 'Your own server gets signed JSON, as Standard Webhooks defines it.',
  discord: 'A channel gets a message. Copy the address from its settings under Integrations.',
}

export interface WebhookDialogProps {
  /** The one to change; creates one without it. */
  webhook?: Webhook
  onSecret?: (shown: ShownSecret) => void
  onClose: () => void
}

export function WebhookDialog({ webhook, onSecret, onClose }: WebhookDialogProps) {
  const [busy, setBusy] = useState(false)
  const allApps = useOwner().data?.allApps ?? true
  const create = useCreateWebhook()
  const update = useUpdateWebhook('Webhook saved')
  const appsField = useAppsField()
  const [defaultValues] = useState(() => toDefaults(webhook, allApps))
  const form = useSchemaForm(webhookSchema, { defaultValues })
  const { errors } = form.formState
  const { events, apps, format } = form.watch()
  const change = { shouldDirty: true, shouldValidate: form.formState.isSubmitted }

  async function save(values: WebhookValues) {
    if (webhook) {
      await update.mutateAsync({ id: webhook._id, ...toChanges(webhook, values) })
      onClose()
      return
    }
    const created = await create.mutateAsync(toRequest(values))
    if (created.secret !== undefined) {
      onSecret?.({ webhook: created.webhook, secret: created.secret, rotated: false })
      return
    }
    toast.success('Webhook created')
    onClose()
  }
  const submit = useSubmit({ form, onBusy: setBusy }, (values) => save(values))
  // The server names the entry of a list: `apps.2`.
  const messageOf = (name: 'events' | 'apps') => {
    const all = errors[name] as { message?: string } | ({ message?: string } | undefined)[] | undefined
    return Array.isArray(all) ? all.find((one) => one?.message)?.message : all?.message
  }

  return (
    <FormDialog
      onClose={onClose}
      busy={busy}
      title={webhook ? 'Edit Webhook' : 'Create Webhook'}
      description={
        webhook
          ? 'Once you save, it gets the events that you may read.'
          : 'It gets the events that you may read, as long as you may read them.'
      }
      onSubmit={submit}
      autoComplete="off"
      submitLabel={webhook ? 'Save' : 'Create Webhook'}
    >
      {!webhook && (
        <div className="grid gap-1.5">
          <p aria-hidden className="font-medium">
            Format
          </p>
          <Choice
            label="Format"
            value={format}
            onChange={(value) => form.setValue('format', value, change)}
            options={[
              { value: 'standard', label: 'Standard' },
              { value: 'discord', label: 'Discord' },
            ]}
          />
          <p className="text-[0.8125rem] text-fg-muted">{formatHints[format]}</p>
        </div>
      )}
      <Field
        label="Address"
        hint="https, at port 443 or from 1024, on a public network"
        error={errors.url?.message}
      >
        <Input
          {...form.register('url')}
          type="url"
          inputMode="url"
          spellCheck={false}
          placeholder={
            format === 'discord' ? 'https://discord.com/api/webhooks/…' : 'https://example.com/keyward'
          }
          maxLength={limits.webhookUrlMax}
        />
      </Field>
      <EventsField
        value={events}
        onChange={(value) => form.setValue('events', value, change)}
        error={messageOf('events')}
      />
      <SomeField
        {...appsField}
        mayAll={allApps}
        value={apps}
        onChange={(value) => form.setValue('apps', value, change)}
        max={limits.webhookAppsMax}
        hint="Events that belong to no app, such as settings, are not sent then."
        error={messageOf('apps')}
      />
    </FormDialog>
  )
}

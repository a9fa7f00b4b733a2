import { limits, type Webhook } from '@keyward/contract'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { type ShownSecret, useDeleteWebhook, useRotateSecret, useUpdateWebhook } from './queries.ts'
import { hostOf } from './state.ts'

interface WebhookConfirmProps {
  webhook: Webhook
  onClose: () => void
}

export function DeleteWebhookDialog({ webhook, onClose }: WebhookConfirmProps) {
  const remove = useDeleteWebhook()
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete the webhook to ${hostOf(webhook)}?`}
      description={<code className="break-all font-mono text-[0.8125rem]">{webhook.url}</code>}
      loss="Its log, its secret and the events that still wait are lost. It gets no more events. This cannot be undone."
      confirmLabel="Delete Webhook"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(webhook, { onSuccess: onClose })}
    />
  )
}

export function PauseWebhookDialog({ webhook, onClose }: WebhookConfirmProps) {
  const update = useUpdateWebhook('Webhook paused')
  return (
    <ConfirmDialog
      onClose={onClose}
      tone="neutral"
      title={`Pause the webhook to ${hostOf(webhook)}?`}
      description="You can resume it at any time. Its secret and its log stay."
      loss="It does not get what happens until then, not even later."
      confirmLabel="Pause Webhook"
      busy={update.isPending}
      onConfirm={() => update.mutate({ id: webhook._id, active: false }, { onSuccess: onClose })}
    />
  )
}

export interface RotateSecretDialogProps extends WebhookConfirmProps {
  onSecret: (shown: ShownSecret) => void
}

export function RotateSecretDialog({ webhook, onSecret, onClose }: RotateSecretDialogProps) {
  const rotate = useRotateSecret()
  return (
    <ConfirmDialog
      onClose={onClose}
      tone="neutral"
      title={`Rotate the secret of ${hostOf(webhook)}?`}
      description={`You get a new secret. Both sign for ${limits.webhookRotationHours} hours, so that you can change your receiver without losing an event.`}
      loss={`After ${limits.webhookRotationHours} hours the present secret signs nothing any more.`}
      confirmLabel="Rotate Secret"
      busy={rotate.isPending}
      onConfirm={() =>
        rotate.mutate(webhook, {
          onSuccess: ({ secret }) => onSecret({ webhook, secret, rotated: true }),
        })
      }
    />
  )
}

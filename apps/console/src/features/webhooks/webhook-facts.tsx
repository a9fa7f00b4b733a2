import { limits, type Webhook } from '@keyward/contract'
import { CircleAlert, Pause, Play } from 'lucide-react'
import { useApps } from '../../lib/api/apps.ts'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { appsText } from '../../lib/format/apps.ts'
import { formatDate, formatMoment } from '../../lib/format/dates.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Callout } from '../../ui/states.tsx'
import { describeEvents } from './event-words.ts'
import { useUpdateWebhook } from './queries.ts'
import { formatLabels } from './webhook-columns.tsx'

/** What to do about a webhook that fails or is paused; nothing for one that works. */
export function WebhookNotice({ webhook }: { webhook: Webhook }) {
  const { _id, active, failingSince } = webhook
  const resume = useUpdateWebhook('Webhook resumed')
  if (active && failingSince === null) return null
  if (active) {
    return (
      <Callout
        tone="warning"
        icon={<CircleAlert aria-hidden />}
        title={`Failing since ${formatMoment(failingSince ?? '')}`}
      >
        Open a failed delivery to see what your receiver answers. Keyward tries again, and pauses the webhook
        after three days.
      </Callout>
    )
  }
  return (
    <Callout
      tone="danger"
      icon={<Pause aria-hidden />}
      title="Paused"
      action={
        <May call={wire.webhooks.update}>
          <Button loading={resume.isPending} onClick={() => resume.mutate({ id: _id, active: true })}>
            <Play aria-hidden />
            Resume
          </Button>
        </May>
      }
    >
      {whyPaused(webhook)}
    </Callout>
  )
}

function whyPaused({ pauseReason, failingSince }: Webhook): string {
  if (pauseReason === 'full') {
    return `More than ${formatNumber(limits.webhookWaitingMax)} events waited for it. Make your receiver faster or choose fewer events, then resume the webhook. It gets only what happens from then on.`
  }
  if (pauseReason === 'maker_gone') {
    return 'The person or API key that saved it last has no access any more. Resume it to get what you may read and what happens from then on.'
  }
  return failingSince !== null
    ? `It has failed since ${formatMoment(failingSince)}. Mend your receiver, then resume the webhook. It gets only what happens from then on.`
    : 'It gets no events. Resume it to get what happens from then on.'
}

export function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const apps = useApps().data ?? []
  const facts = [
    ['Events', describeEvents(webhook.events)],
    ['Apps', appsText(webhook.apps, apps)],
    ['Format', formatLabels[webhook.format]],
    ['Created', formatDate(webhook.createdAt)],
  ] as const
  return (
    <Card>
      <dl className="grid grid-cols-2 gap-4 px-4 py-3.5 md:grid-cols-4 md:px-5">
        {facts.map(([label, value]) => (
          <div key={label} className="grid min-w-0 content-start gap-0.5">
            <dt className="font-medium text-[0.8125rem] text-fg-muted">{label}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

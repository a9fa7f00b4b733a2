import { Send, Webhook as WebhookIcon } from 'lucide-react'
import { useCallback } from 'react'
import { useParams } from 'react-router'
import { Deliveries } from '../../features/webhooks/deliveries.tsx'
import { useSendTest, useWebhook } from '../../features/webhooks/queries.ts'
import { hostOf, stateFacts, stateOf } from '../../features/webhooks/state.ts'
import { WebhookDialogs } from '../../features/webhooks/webhook-dialogs.tsx'
import { WebhookFacts, WebhookNotice } from '../../features/webhooks/webhook-facts.tsx'
import { WebhookMenu } from '../../features/webhooks/webhook-menu.tsx'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { useDialogParam, useUrlState } from '../../lib/navigation/url-state.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ItemPage } from './item-page.tsx'

const DeliveryDialog = lazyNamed(
  () => import('../../features/webhooks/delivery-dialog.tsx'),
  'DeliveryDialog',
)
const VerifySignatures = lazyNamed(
  () => import('../../features/webhooks/verify-signatures.tsx'),
  'VerifySignatures',
)
const dialogs = ['delivery'] as const

/** One webhook and the log of what it got. */
export function WebhookPage() {
  const { id = '' } = useParams()
  const query = useWebhook(id)
  const [{ view }, setUrl] = useUrlState('view', 'state', 'page')
  const dialog = useDialogParam(dialogs)
  const { open } = dialog
  const openDelivery = useCallback(({ _id }: { _id: string }) => open('delivery', _id), [open])
  const sendTest = useSendTest()
  const may = useMay()
  return (
    <ItemPage
      query={query}
      list={{ label: 'Integrations', to: paths.integrations }}
      noun="Webhook"
      icon={<WebhookIcon />}
    >
      {(webhook) => {
        const deliveries = <Deliveries webhook={webhook} onOpen={openDelivery} />
        const state = stateFacts[stateOf(webhook)]
        return (
          <>
            <PageHeader
              title={hostOf(webhook)}
              tabTitle={`Webhook to ${hostOf(webhook)}`}
              subtitle={<code className="font-mono text-[0.8125rem]">{webhook.url}</code>}
              badge={<StateBadge {...state} />}
              actions={<WebhookMenu webhook={webhook} />}
              primary={
                webhook.active &&
                may(wire.webhooks.test) && (
                  <Button
                    variant="primary"
                    loading={sendTest.isPending}
                    onClick={() =>
                      sendTest.mutate(id, { onSuccess: ({ delivery }) => openDelivery(delivery) })
                    }
                  >
                    <Send />
                    Send Test Event
                  </Button>
                )
              }
            />
            <WebhookNotice webhook={webhook} />
            <WebhookFacts webhook={webhook} />
            <Card className="overflow-clip">
              {webhook.format === 'discord' ? (
                deliveries
              ) : (
                <Tabs
                  label="About this webhook"
                  value={view === 'verify' ? 'verify' : 'deliveries'}
                  onChange={(next) =>
                    setUrl({ view: next === 'verify' ? next : undefined, page: undefined, state: undefined })
                  }
                  tabs={[
                    { value: 'deliveries', label: 'Deliveries', content: deliveries },
                    { value: 'verify', label: 'Verify Signatures', content: <VerifySignatures /> },
                  ]}
                />
              )}
            </Card>
            <WebhookDialogs webhooks={[webhook]} />
            <DialogSlot>
              {dialog.kind === 'delivery' && dialog.id && (
                <DeliveryDialog
                  key={dialog.id}
                  webhook={webhook}
                  deliveryId={dialog.id}
                  onClose={dialog.close}
                />
              )}
            </DialogSlot>
          </>
        )
      }}
    </ItemPage>
  )
}

import { limits } from '@keyward/contract'
import { Plus, Webhook as WebhookIcon } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { useApps } from '../../lib/api/apps.ts'
import { tableState } from '../../lib/list/list-page.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { useWebhooks } from './queries.ts'
import { webhookColumns } from './webhook-columns.tsx'
import { useWebhookDialog, WebhookDialogs } from './webhook-dialogs.tsx'
import { WebhookMenu } from './webhook-menu.tsx'

/** What creates another webhook: the `first` in the empty list, others in the header of the page. */
export function useCreateWebhookButton({ first }: { first: boolean }): ReactNode {
  const dialog = useWebhookDialog()
  const count = useWebhooks().data?.length
  if (!dialog.may('create') || count === undefined || count >= limits.webhooksMax) return null
  if (first !== (count === 0)) return null
  return (
    <Button variant="primary" onClick={() => dialog.open('create')}>
      <Plus />
      {first ? 'Create First Webhook' : 'Create Webhook'}
    </Button>
  )
}

export function WebhookList() {
  const apps = useApps().data
  const webhooks = useWebhooks()
  const dialog = useWebhookDialog()
  const createFirst = useCreateWebhookButton({ first: true })
  const columns = useMemo(() => webhookColumns(apps ?? []), [apps])
  return (
    <>
      <Card className="overflow-clip">
        {webhooks.data?.length !== 0 && (
          <CardHeader
            title="Webhooks"
            description={`Keyward calls these addresses when something happens. At most ${limits.webhooksMax}.`}
          />
        )}
        <Table
          caption="Webhooks, newest first"
          columns={columns}
          rows={webhooks.data}
          rowKey={({ _id }) => _id}
          rowMenu={dialog.may('edit') ? (webhook) => <WebhookMenu webhook={webhook} /> : undefined}
          {...tableState(webhooks, 'Failed to load webhooks')}
          skeletonRows={1}
          empty={
            <EmptyState
              icon={<WebhookIcon />}
              title="No webhooks yet"
              description="With a webhook, your own server or a Discord channel learns of new licenses, bans and refusals within seconds."
              actions={createFirst}
            />
          }
        />
      </Card>
      <WebhookDialogs webhooks={webhooks.data ?? []} />
    </>
  )
}

import { type Delivery, limits, type Webhook } from '@keyward/contract'
import { RotateCw, Send } from 'lucide-react'
import { useMemo } from 'react'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { tableState, useLastPage, usePage } from '../../lib/list/list-page.ts'
import { useUrlState } from '../../lib/navigation/url-state.ts'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { FilterBar, FilterSelect } from '../../ui/filters.tsx'
import { Pagination } from '../../ui/pagination.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { deliveryColumns } from './delivery-columns.tsx'
import { deliveryFacts } from './delivery-words.ts'
import { eventLabel } from './event-words.ts'
import { useDeliveries, useRetry } from './queries.ts'

const pageSize = 50
type State = Delivery['state']

/** The log of a webhook, which changes while it is watched. */
export function Deliveries({ webhook, onOpen }: { webhook: Webhook; onOpen: (delivery: Delivery) => void }) {
  const [url, setUrl] = useUrlState('state', 'page')
  const { page, turnTo } = usePage()
  const state = (Object.keys(deliveryFacts) as State[]).find((known) => known === url.state)
  const deliveries = useDeliveries(webhook._id, { state, page, limit: pageSize })
  const { data } = deliveries
  useLastPage(deliveries.isPlaceholderData ? undefined : data?.pagination.pages)
  const columns = useMemo(() => deliveryColumns(onOpen), [onOpen])
  return (
    <>
      <CardHeader
        title="Deliveries"
        description={`Newest first, kept for ${limits.deliveryDays} days. A failed one is tried again for ${limits.webhookRetryDays} days.`}
        filters
        actions={
          <FilterBar values={{ state }}>
            <FilterSelect
              label="State"
              unset="All states"
              options={Object.entries(deliveryFacts).map(([value, { label }]) => ({ value, label }))}
              value={state}
              onChange={(next) => setUrl({ state: next, page: undefined })}
            />
          </FilterBar>
        }
      />
      <Table
        caption="Deliveries, newest first"
        columns={columns}
        rows={data?.deliveries}
        rowKey={({ _id }) => _id}
        rowMenu={(delivery) => <RetryButton webhook={webhook} delivery={delivery} />}
        {...tableState(deliveries, 'Failed to load deliveries')}
        skeletonRows={8}
        empty={
          state ? (
            <EmptyState
              icon={<Send />}
              title="No deliveries found"
              description={`None is in the state “${deliveryFacts[state].label}”.`}
              actions={
                <Button onClick={() => setUrl({ state: undefined, page: undefined })}>Show All</Button>
              }
            />
          ) : (
            <EmptyState
              icon={<Send />}
              title="No deliveries yet"
              description="The next event appears here as soon as it happens."
            />
          )
        }
      />
      {data && data.pagination.total > 0 && (
        <Pagination {...data.pagination} page={page} onPage={turnTo} noun="deliveries" />
      )}
    </>
  )
}

function RetryButton({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const retry = useRetry(webhook._id)
  if (!webhook.active || !/failed|given_up/.test(delivery.state)) return null
  return (
    <May call={wire.webhooks.retry}>
      <Button
        size="sm"
        variant="ghost"
        aria-label={`Retry ${eventLabel(delivery.event)}`}
        loading={retry.isPending}
        onClick={() => retry.mutate(delivery._id)}
      >
        <RotateCw aria-hidden />
        <span className="max-md:sr-only">Retry</span>
      </Button>
    </May>
  )
}

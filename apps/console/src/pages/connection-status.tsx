import { notifyManager, type Query, useQueryClient } from '@tanstack/react-query'
import { CircleAlert, RefreshCw } from 'lucide-react'
import { useEffect, useReducer } from 'react'
import { useConnectionLost } from '../lib/api/connection.ts'
import { usePublicConfig } from '../lib/api/public-config.ts'
import { formatTime } from '../lib/format/dates.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/cx.ts'
import { Spinner } from '../ui/spinner.tsx'
import { Callout } from '../ui/states.tsx'

/** Shows that the server runs in development mode. */
export function DevelopmentBadge() {
  const config = usePublicConfig()
  if (!config?.development) return null
  const reach = 'This server runs in development mode: only this machine reaches it'
  const title = config.payments === 'mock' ? `${reach}, and payments are simulated.` : `${reach}.`
  return (
    <span title={title}>
      <Badge tone="warning">Dev mode</Badge>
      <span className="sr-only">{title}</span>
    </span>
  )
}

/** Says that the connection is lost. A toast would cover the menu on phones as long as it stays. */
export function ConnectionBadge({ className }: { className?: string }) {
  const lost = useConnectionLost()
  return (
    <div
      role="status"
      className={cx(
        'pointer-events-none fixed inset-x-4 bottom-[calc(1rem+env(safe-area-inset-bottom))] z-30 flex justify-center',
        className,
      )}
    >
      {lost && (
        <p className="flex animate-rise items-center gap-2 rounded-2xl border border-warning-line bg-warning-soft px-4 py-2 font-medium text-[0.8125rem] text-warning-text shadow-pop">
          <CircleAlert aria-hidden className="size-4 shrink-0" />
          {navigator.onLine
            ? 'Connection lost. Reconnecting…'
            : 'You are offline. You can make changes again once you are connected.'}
        </p>
      )}
    </div>
  )
}

const isStale = (query: Query) =>
  query.isActive() && query.state.status === 'error' && query.state.data !== undefined

const isWaiting = (query: Query) =>
  query.isActive() &&
  query.state.status === 'pending' &&
  query.state.fetchStatus === 'fetching' &&
  query.state.fetchFailureCount > 0

/** Says that the page shows stale data, since when, and offers a retry; or that loading failed and is retried. */
export function StaleNotice() {
  const client = useQueryClient()
  const cache = client.getQueryCache()
  const [, rerender] = useReducer((count: number) => count + 1, 0)
  useEffect(() => cache.subscribe(notifyManager.batchCalls(rerender)), [cache])
  const waiting = cache.findAll({ predicate: isWaiting })
  const stale = cache.findAll({ predicate: isStale })
  const failures = new Set(stale.map(({ meta }) => meta?.failure ?? 'This page could not be refreshed'))
  const retrying = stale.some(({ state }) => state.fetchStatus === 'fetching')
  return (
    <div role="status">
      {waiting[0] && (
        <Callout
          tone="warning"
          icon={<Spinner />}
          className="mb-6"
          title="This page could not be loaded yet. Trying again…"
        >
          {waiting[0].state.fetchFailureReason?.message}
        </Callout>
      )}
      {stale.length > 0 && (
        <Callout
          tone="warning"
          className="mb-6"
          title={failures.size === 1 ? `${[...failures][0]}` : 'This page could not be refreshed'}
          action={
            <Button
              size="sm"
              loading={retrying}
              onClick={() => void client.refetchQueries({ predicate: isStale })}
            >
              {!retrying && <RefreshCw />}
              Try Again
            </Button>
          }
        >
          This page shows data from {formatTime(Math.min(...stale.map(({ state }) => state.dataUpdatedAt)))}{' '}
          and may be out of date.
        </Callout>
      )}
    </div>
  )
}

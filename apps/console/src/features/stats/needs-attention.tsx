import type { Attention } from '@keyward/contract'
import { CircleCheck } from 'lucide-react'
import { Link } from 'react-router'
import { useAttention } from '../../lib/api/attention.ts'
import { formatDate } from '../../lib/format/dates.ts'
import { amountOf } from '../../lib/format/words.ts'
import { listPath, paths, resellerPath, webhookPath } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'

const orderMost = 20

interface Line {
  text: string
  label?: string
  to?: string
}

/** What it is, and the click that settles it. */
function lineOf(one: Attention): Line {
  switch (one.kind) {
    case 'backups_fail':
      return {
        text: 'The server’s backups fail. Its log says why; “keyward backup” makes one by hand.',
      }
    case 'address_unconfirmed':
      return {
        text: `Buyers get no mails before you confirm ${one.email}`,
        label: 'Confirm Address',
        to: paths.notifications,
      }
    case 'orders_waiting':
      return {
        text: `${amountOf(one.count, 'order')}${one.count >= orderMost ? ' or more' : ''} ${one.count === 1 ? 'waits' : 'wait'} for you`,
        label: 'See Orders',
        to: listPath(paths.orders, { state: 'waiting' }),
      }
    case 'webhook_paused':
      return {
        text: `The webhook to ${one.origin} is paused: its receiver failed`,
        label: 'Open Webhook',
        to: webhookPath(one._id),
      }
    case 'reseller_quota':
      return {
        text: `${one.email} can generate ${amountOf(one.remaining, 'more license')}`,
        label: 'Raise Quota',
        to: resellerPath(one._id),
      }
    case 'api_key_ends':
      return {
        text: `The API key “${one.name}” ${Date.parse(one.expiresAt) > Date.now() ? 'ends' : 'ended'} on ${formatDate(one.expiresAt)}`,
        label: 'Make a New Key',
        to: paths.apiKeys,
      }
    case 'refusals_rise':
      return {
        text: `Programs of ${one.app.name} were refused ${amountOf(one.recent, 'time')} in about a day, usually ${one.usual}`,
        label: 'See Refusals',
        to: listPath(paths.activity, { app: one.app._id, code: 'any' }),
      }
  }
}

const keyOf = (one: Attention): string =>
  `${one.kind} ${'_id' in one ? one._id : 'app' in one ? one.app._id : ''}`

/** What waits for the signed-in person, a line each. */
export function NeedsAttention() {
  const attention = useAttention()
  const all = attention.data?.attention
  return (
    <Card aria-label="Needs Attention" className="overflow-clip">
      <CardHeader title="Needs Attention" />
      {attention.isError && !all && (
        <QueryError query={attention} title="Failed to load what needs attention" />
      )}
      {attention.isPending && <Skeleton className="mx-4 mb-4 h-5 md:mx-5" />}
      {all?.length === 0 && (
        <p className="flex items-center gap-2 px-4 pb-4 text-fg-muted md:px-5">
          <CircleCheck aria-hidden className="size-4 text-success-text" />
          Nothing waits for you.
        </p>
      )}
      {all && all.length > 0 && (
        <ul className="divide-y border-t">
          {all.map((one) => {
            const { text, label, to } = lineOf(one)
            return (
              <li
                key={keyOf(one)}
                className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-2.5 md:px-5"
              >
                <span className="wrap-anywhere min-w-0 flex-1 basis-56">{text}</span>
                {to && (
                  <Button asChild size="sm">
                    <Link to={to}>{label}</Link>
                  </Button>
                )}
              </li>
            )
          })}
        </ul>
      )}
    </Card>
  )
}

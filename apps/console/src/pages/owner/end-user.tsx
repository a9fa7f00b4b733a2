import { CalendarPlus, Users } from 'lucide-react'
import { useParams } from 'react-router'
import { CustomerLine } from '../../features/customers/customer-line.tsx'
import { Devices } from '../../features/end-users/devices.tsx'
import { EndUserDialog, endUserDialogs } from '../../features/end-users/end-user-dialogs.tsx'
import { EndUserFacts, endUserTimes } from '../../features/end-users/end-user-facts.tsx'
import { EndUserMenu } from '../../features/end-users/end-user-menu.tsx'
import { useEndUser } from '../../features/end-users/queries.ts'
import { statusFacts } from '../../features/end-users/status.ts'
import { endUserName } from '../../lib/format/end-user-name.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ItemColumns, ItemPage } from './item-page.tsx'
import { WhyEnd } from './why-end.tsx'

const OfflineActivations = lazyNamed(
  () => import('../../features/offline-activations/offline-activations.tsx'),
  'OfflineActivations',
)

const ItemTimeline = lazyNamed(() => import('./item-timeline.tsx'), 'ItemTimeline')

/** Everything about one end user. */
export function EndUserPage() {
  const { id = '' } = useParams()
  const query = useEndUser(id)
  const dialog = useCallDialog(endUserDialogs)
  return (
    <ItemPage query={query} list={{ label: 'End Users', to: paths.users }} noun="End user" icon={<Users />}>
      {(user) => (
        <>
          <PageHeader
            title={endUserName(user)}
            subtitle={user.app.name}
            badge={
              <>
                <StateBadge {...statusFacts[user.status]} />
                {user.paused && <Badge tone="warning">Paused</Badge>}
              </>
            }
            actions={<EndUserMenu user={user} onAction={(action) => dialog.open(action)} />}
            primary={
              dialog.may('extend') &&
              user.expiresAt !== null && (
                <Button variant="primary" onClick={() => dialog.open('extend')}>
                  <CalendarPlus />
                  Extend Subscription
                </Button>
              )
            }
          />
          <ItemColumns>
            <EndUserFacts
              user={user}
              customer={<CustomerLine id={user.customer} linked={{ endUser: user._id }} />}
              why={<WhyEnd granted={user} />}
              onVariables={() => dialog.open('variables')}
            />
            <div className="grid gap-4 md:gap-6">
              <Devices user={user._id} onFreeAll={() => dialog.open('free-all')} />
              <Deferred fallback={<Skeleton className="h-64 rounded-xl" />}>
                <ItemTimeline
                  changes={{ about: user._id }}
                  programs={{ client: user._id }}
                  known={endUserTimes(user)}
                />
              </Deferred>
              <Deferred fallback={<Skeleton className="h-40 rounded-xl" />}>
                <OfflineActivations app={user.app} user={user} />
              </Deferred>
            </div>
          </ItemColumns>
          <EndUserDialog kind={dialog.kind} user={user} onClose={dialog.close} />
        </>
      )}
    </ItemPage>
  )
}

import { CalendarPlus, CircleCheck, KeyRound } from 'lucide-react'
import { useParams } from 'react-router'
import { CustomerLine } from '../../features/customers/customer-line.tsx'
import { Devices } from '../../features/end-users/devices.tsx'
import { LicenseDialog, licenseDialogs } from '../../features/licenses/license-dialogs.tsx'
import { LicenseFacts, licenseTimes } from '../../features/licenses/license-facts.tsx'
import { LicenseMenu } from '../../features/licenses/license-menu.tsx'
import { useLicense, useSetLicenseBan } from '../../features/licenses/queries.ts'
import { statusFacts } from '../../features/licenses/status.ts'
import { TestBadge } from '../../features/licenses/test-badge.tsx'
import { LicenseOrder } from '../../features/orders/license-order.tsx'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ItemColumns, ItemPage } from './item-page.tsx'
import { WhyEnd } from './why-end.tsx'

const ItemTimeline = lazyNamed(() => import('./item-timeline.tsx'), 'ItemTimeline')

/** Everything about one license. */
export function LicensePage() {
  const { id = '' } = useParams()
  const query = useLicense(id)
  const dialog = useCallDialog(licenseDialogs)
  const ban = useSetLicenseBan()
  const may = useMay()
  return (
    <ItemPage
      query={query}
      list={{ label: 'Licenses', to: paths.licenses }}
      noun="License"
      icon={<KeyRound />}
    >
      {(license) => (
        <>
          <PageHeader
            title={keyPrefix(license.key)}
            tabTitle={`License ${keyPrefix(license.key)}`}
            subtitle={license.note ?? license.app.name}
            badge={
              <>
                <StateBadge {...statusFacts[license.status]} />
                {license.test && <TestBadge license={license} />}
              </>
            }
            actions={<LicenseMenu license={license} onAction={dialog.open} />}
            primary={
              license.banned
                ? may(wire.licenses.toggleBan) && (
                    <Button
                      variant="primary"
                      loading={ban.isPending}
                      onClick={() => ban.mutate({ license, banned: false })}
                    >
                      <CircleCheck />
                      Unban License
                    </Button>
                  )
                : dialog.may('extend') &&
                  license.expiresAt !== null && (
                    <Button variant="primary" onClick={() => dialog.open('extend')}>
                      <CalendarPlus />
                      Extend License
                    </Button>
                  )
            }
          />
          <ItemColumns>
            <div className="grid gap-4 md:gap-6">
              <LicenseFacts
                license={license}
                customer={
                  may(wire.customers.get) && (
                    <CustomerLine id={license.customer} linked={{ license: license._id }} />
                  )
                }
                why={<WhyEnd granted={license} />}
              />
              <LicenseOrder license={license._id} />
            </div>
            <div className="grid gap-4 md:gap-6">
              <Deferred fallback={<Skeleton className="h-64 rounded-xl" />}>
                <ItemTimeline
                  changes={{ about: license._id }}
                  programs={{ license: license._id }}
                  known={licenseTimes(license)}
                />
              </Deferred>
              {license.usedBy && <Devices user={license.usedBy._id} />}
            </div>
          </ItemColumns>
          <LicenseDialog kind={dialog.kind} license={license} onClose={dialog.close} />
        </>
      )}
    </ItemPage>
  )
}

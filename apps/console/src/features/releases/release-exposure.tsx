import { limits, type Release } from '@keyward/contract'
import { useState } from 'react'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { amountOf } from '../../lib/format/words.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { Facts } from '../../ui/facts.tsx'
import { LineChart } from '../../ui/line-chart.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { saveEvidence, useExposure } from './exposure-queries.ts'

const ExposedCustomers = lazyNamed(() => import('./exposed-customers.tsx'), 'ExposedCustomers')
const NotifyDialog = lazyNamed(() => import('./notify-dialog.tsx'), 'NotifyDialog')

/** The server counts by UTC days. */
const dayName = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** How many devices a security fix has not reached yet, and what to do about it. */
export function ReleaseExposure({ release }: { release: Release }) {
  const exposure = useExposure(release._id)
  const [opened, setOpened] = useState<'customers' | 'notify'>()
  const close = () => setOpened(undefined)
  const { data } = exposure
  if (exposure.isError && !data)
    return <QueryError boxed query={exposure} title="Failed to load the affected devices" />
  if (!data) return <Skeleton className="h-40" />
  const { versions, days, told } = data
  return (
    <section aria-label={`Affected devices of ${release.version}`} className="grid min-w-0 gap-4">
      <Facts
        items={[
          { label: 'Affected', value: amountOf(data.devices, 'device') },
          { label: 'Repaired', value: amountOf(data.repaired, 'device') },
          {
            label: `Affected, not seen for ${limits.unseenDays} days`,
            value: amountOf(data.unseen, 'device'),
          },
          { label: 'Unknown version', value: amountOf(data.unknown, 'device') },
          { label: 'Told by the program', value: amountOf(told.devices, 'device') },
          { label: 'Mailed', value: amountOf(told.customers, 'customer') },
        ]}
      />
      {versions.length > 0 && (
        <p className="wrap-anywhere text-[0.8125rem] text-fg-muted">
          Devices by affected version:{' '}
          {versions.map(({ version, devices }) => `${version} (${formatNumber(devices)})`).join(', ')}
        </p>
      )}
      {days.length > 1 && (
        <LineChart
          caption="Affected devices by day"
          labelHeading="Day (UTC)"
          isLevel
          labels={days.map(({ date }) => dayName.format(new Date(date)))}
          series={[{ name: 'Affected devices', values: days.map(({ devices }) => devices) }]}
        />
      )}
      <div className="flex flex-wrap gap-2">
        <May call={wire.exposure.customers}>
          <Button size="sm" onClick={() => setOpened('customers')}>
            Affected Customers
          </Button>
        </May>
        <May call={wire.exposure.notify}>
          <Button size="sm" onClick={() => setOpened('notify')}>
            Notify Customers
          </Button>
        </May>
        <May call={wire.exposure.evidence}>
          <Button size="sm" onClick={() => saveEvidence(release)}>
            Download Evidence
          </Button>
        </May>
      </div>
      {opened && (
        <Deferred onFail={close}>
          {opened === 'customers' ? (
            <ExposedCustomers release={release} onClose={close} />
          ) : (
            <NotifyDialog release={release} onClose={close} />
          )}
        </Deferred>
      )}
    </section>
  )
}

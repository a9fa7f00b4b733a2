import { type OwnersDevice, unlimited } from '@keyward/contract'
import { MonitorSmartphone } from 'lucide-react'
import { Suspense, useState } from 'react'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EmptyState, QueryError } from '../../ui/states.tsx'
import { useDevices, useFreeDevice } from './queries.ts'

const ConfirmDialog = lazyNamed(() => import('../../ui/confirm-dialog.tsx'), 'ConfirmDialog')

const nameOf = (device: OwnersDevice) => device.name || 'Unnamed device'

interface Props {
  user: string
  /** Asks whether to free all of them at once. */
  onFreeAll?: () => void
}

/** Lists the devices of an end user, with buttons to free one or all of them. */
export function Devices({ user, onFreeAll }: Props) {
  const devices = useDevices(user)
  const [freeing, setFreeing] = useState<OwnersDevice>()
  const free = useFreeDevice(user)
  const { data } = devices
  return (
    <Card>
      <CardHeader
        title="Devices"
        description={data && `${data.used} of ${data.limit === unlimited ? 'any number' : data.limit} in use`}
        actions={
          onFreeAll &&
          (data?.devices.length ?? 0) > 0 && (
            <May call={wire.clients.resetHwid}>
              <Button size="sm" onClick={onFreeAll}>
                Free All
              </Button>
            </May>
          )
        }
      />
      {devices.isPending && <Skeleton className="mx-5 mb-5 h-14" />}
      {devices.isError && !data && (
        <QueryError query={devices} className="border-t py-8" title="Failed to load devices" />
      )}
      {data?.devices.length === 0 && (
        <EmptyState
          className="border-t py-8"
          icon={<MonitorSmartphone />}
          title="No devices"
          description="The next sign-in with a hardware id takes a place."
        />
      )}
      {data && data.devices.length > 0 && (
        <ul className="divide-y border-t">
          {data.devices.map((device) => (
            <li key={device._id} className="flex items-center gap-3 px-4 py-2.5 md:px-5">
              <div className="min-w-0 flex-1">
                <p className="wrap-anywhere font-medium">
                  <bdi>{nameOf(device)}</bdi>
                </p>
                <p className="text-[0.8125rem] text-fg-muted">
                  {device.system && (
                    <>
                      <bdi>{device.system}</bdi> ·{' '}
                    </>
                  )}
                  First seen <DateText value={device.firstSeenAt} /> · last seen{' '}
                  <DateText value={device.lastSeenAt} />
                  {device.offline && (
                    <>
                      {' '}
                      · runs offline until <DateText value={device.offline.until} none="deactivated" />
                    </>
                  )}
                  {device.freedUntil && (
                    <>
                      {' '}
                      · freed by a program, its place is free from <DateText value={device.freedUntil} />
                    </>
                  )}
                </p>
              </div>
              <May call={wire.clients.freeDevice}>
                <Button size="sm" aria-label={`Free ${nameOf(device)}`} onClick={() => setFreeing(device)}>
                  Free
                </Button>
              </May>
            </li>
          ))}
        </ul>
      )}
      {freeing && (
        <Suspense fallback={null}>
          <ConfirmDialog
            onClose={() => setFreeing(undefined)}
            title={`Free ${nameOf(freeing)}?`}
            description="Another device can take its place. This device can sign in again as long as a place is free."
            confirmLabel="Free Device"
            tone="neutral"
            busy={free.isPending}
            loss={freeing.offline && <OfflineLoss offline={freeing.offline} />}
            onConfirm={() => free.mutate(freeing, { onSuccess: () => setFreeing(undefined) })}
          />
        </Suspense>
      )}
    </Card>
  )
}

function OfflineLoss({ offline: { until, by } }: { offline: NonNullable<OwnersDevice['offline']> }) {
  const end = <DateText value={until} />
  if (by === 'lease') {
    return (
      <>The program on this device can run offline until {end}, beside the device that takes the place.</>
    )
  }
  return (
    <>
      The program on this device has a file that {until === null ? 'never ends' : <>runs until {end}</>}. It
      runs there on, beside the device that takes the place. Deactivate it with its code instead.
    </>
  )
}

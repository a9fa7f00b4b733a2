import { type OwnersDevice, unlimited } from '@keyward/contract'
import { MonitorSmartphone } from 'lucide-react'
import { Suspense, useState } from 'react'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EmptyState, QueryError } from '../../ui/states.tsx'
import { DeviceItem } from './device-item.tsx'
import { useDevices } from './queries.ts'

const FreeDialog = lazyNamed(() => import('./free-dialog.tsx'), 'FreeDialog')

interface Props {
  user: string
  /** Asks whether to free all of them at once. */
  onFreeAll?: () => void
}

/** Lists the devices of an end user, with buttons to free one or all of them. */
export function Devices({ user, onFreeAll }: Props) {
  const devices = useDevices(user)
  const [freeing, setFreeing] = useState<OwnersDevice>()
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
          description="A device appears here once the program signs in with its hardware ID."
        />
      )}
      {data && data.devices.length > 0 && (
        <ul className="divide-y border-t">
          {data.devices.map((device) => (
            <DeviceItem key={device._id} device={device} onFree={setFreeing} />
          ))}
        </ul>
      )}
      {freeing && (
        <Suspense fallback={null}>
          <FreeDialog user={user} device={freeing} onClose={() => setFreeing(undefined)} />
        </Suspense>
      )}
    </Card>
  )
}

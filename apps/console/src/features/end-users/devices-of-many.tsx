import type { DataOf, endpoints } from '@keyward/contract'
import { limits } from '@keyward/contract'
import { MonitorSmartphone } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Link } from 'react-router'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { userPath } from '../../lib/navigation/paths.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { DeviceItem } from './device-item.tsx'

const FreeDialog = lazyNamed(() => import('./free-dialog.tsx'), 'FreeDialog')

type Device = DataOf<typeof endpoints.customers.get>['devices'][number]

/** The devices of several end users, each with its end user. */
export function DevicesOfMany({ devices }: { devices: Device[] }) {
  const [freeing, setFreeing] = useState<Device>()
  const isCut = devices.length >= limits.customerPartsMax
  return (
    <Card>
      <CardHeader
        title="Devices"
        description={isCut ? `The ${limits.customerPartsMax} seen last` : undefined}
      />
      {devices.length === 0 ? (
        <EmptyState
          className="border-t py-8"
          icon={<MonitorSmartphone />}
          title="No devices"
          description="A device appears here once the program signs in with its hardware ID."
        />
      ) : (
        <ul className="divide-y border-t">
          {devices.map((device) => (
            <DeviceItem
              key={device._id}
              device={device}
              of={
                <Link
                  to={userPath(device.client._id)}
                  className="rounded-sm text-accent-text underline-offset-4 hover:underline"
                >
                  <bdi>{device.client.username}</bdi>
                </Link>
              }
              onFree={setFreeing}
            />
          ))}
        </ul>
      )}
      {freeing && (
        <Suspense fallback={null}>
          <FreeDialog user={freeing.client._id} device={freeing} onClose={() => setFreeing(undefined)} />
        </Suspense>
      )}
    </Card>
  )
}

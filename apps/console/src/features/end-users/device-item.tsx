import type { OwnersDevice } from '@keyward/contract'
import type { ReactNode } from 'react'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { Button } from '../../ui/button.tsx'
import { DateText } from '../../ui/date.tsx'

export const nameOf = (device: OwnersDevice) => device.name || 'Unnamed device'

interface DeviceItemProps<Device> {
  device: Device
  /** The end user whose device it is, in a list of several. */
  of?: ReactNode
  onFree: (device: Device) => void
}

export function DeviceItem<Device extends OwnersDevice>({ device, of, onFree }: DeviceItemProps<Device>) {
  return (
    <li className="flex items-center gap-3 px-4 py-2.5 md:px-5">
      <div className="min-w-0 flex-1">
        <p className="wrap-anywhere font-medium">
          <bdi>{nameOf(device)}</bdi>
        </p>
        <p className="text-[0.8125rem] text-fg-muted">
          {of && <>{of} · </>}
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
        <Button size="sm" aria-label={`Free ${nameOf(device)}`} onClick={() => onFree(device)}>
          Free
        </Button>
      </May>
    </li>
  )
}

import type { OwnersDevice } from '@keyward/contract'
import { type ReactNode, Suspense } from 'react'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { DateText } from '../../ui/date.tsx'
import { useFreeDevice } from './queries.ts'

const ConfirmDialog = lazyNamed(() => import('../../ui/confirm-dialog.tsx'), 'ConfirmDialog')

const nameOf = (device: OwnersDevice) => device.name || 'Unnamed device'

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

interface FreeDialogProps {
  user: string
  device: OwnersDevice
  onClose: () => void
}

export function FreeDialog({ user, device, onClose }: FreeDialogProps) {
  const free = useFreeDevice(user)
  return (
    <Suspense fallback={null}>
      <ConfirmDialog
        onClose={onClose}
        title={`Free ${nameOf(device)}?`}
        description="Another device can take its place. This device can sign in again as long as a place is free."
        confirmLabel="Free Device"
        tone="neutral"
        busy={free.isPending}
        loss={device.offline && <OfflineLoss offline={device.offline} />}
        onConfirm={() => free.mutate(device, { onSuccess: onClose })}
      />
    </Suspense>
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

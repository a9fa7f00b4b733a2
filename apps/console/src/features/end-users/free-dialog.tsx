import type { OwnersDevice } from '@keyward/contract'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { DateText } from '../../ui/date.tsx'
import { nameOf } from './device-item.tsx'
import { useFreeDevice } from './queries.ts'

interface FreeDialogProps {
  user: string
  device: OwnersDevice
  onClose: () => void
}

export function FreeDialog({ user, device, onClose }: FreeDialogProps) {
  const free = useFreeDevice(user)
  return (
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

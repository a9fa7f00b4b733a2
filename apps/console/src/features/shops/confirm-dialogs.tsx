import type { Shop } from '@keyward/contract'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useDeleteShop, useUpdateShop } from './queries.ts'

interface ShopConfirmProps {
  shop: Shop
  onClose: () => void
}

export function DeleteShopDialog({ shop, onClose }: ShopConfirmProps) {
  const remove = useDeleteShop()
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete ${shop.name}?`}
      description="Its orders and their licenses stay."
      loss="Its address, its secret and events that still wait are lost. New orders create no licenses. This cannot be undone."
      confirmLabel="Delete Shop"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(shop, { onSuccess: onClose })}
    />
  )
}

export function PauseShopDialog({ shop, onClose }: ShopConfirmProps) {
  const update = useUpdateShop('Shop turned off')
  return (
    <ConfirmDialog
      onClose={onClose}
      tone="neutral"
      title={`Turn off ${shop.name}?`}
      description="Orders that arrive are stored, and create licenses once you turn it on again."
      loss="Until then, buyers get no license, and refunds ban none."
      confirmLabel="Turn Off"
      busy={update.isPending}
      onConfirm={() => update.mutate({ id: shop._id, active: false }, { onSuccess: onClose })}
    />
  )
}

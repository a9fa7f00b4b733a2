import type { App, Release } from '@keyward/contract'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useWithdrawRelease } from './releases-queries.ts'

export interface WithdrawDialogProps {
  app: App
  release: Release
  onClose: () => void
}

export function WithdrawDialog({ app, release: { _id, version }, onClose }: WithdrawDialogProps) {
  const withdraw = useWithdrawRelease()
  const isCurrent = app.version === version
  return (
    <ConfirmDialog
      title={`Withdraw ${version}?`}
      description={`Nobody is offered it any more. Programs that have it keep running.${isCurrent ? ` The newest older release becomes the version of ${app.name}.` : ''}`}
      loss="A release stays withdrawn."
      confirmLabel="Withdraw Release"
      busy={withdraw.isPending}
      onConfirm={() => withdraw.mutate(_id, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}

import type { License } from '@keyward/contract'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { KeyText } from '../../ui/key-text.tsx'
import { useDeleteAllLicenses, useDeleteLicense } from './queries.ts'
import { useOffline } from './users-offline.ts'

export function DeleteLicenseDialog({ license, onClose }: { license: License; onClose: () => void }) {
  const remove = useDeleteLicense()
  const offline = useOffline(license)
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Delete License"
      description={
        <>
          <KeyText className="text-fg">{keyPrefix(license.key)}</KeyText> of {license.app.name} will be
          deleted. This action cannot be undone.
        </>
      }
      loss={
        license.used ? (
          <>
            {lossOf(license)} {!license.added && offline}
          </>
        ) : undefined
      }
      confirmLabel="Delete License"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(license._id, { onSuccess: onClose })}
    />
  )
}

function lossOf({ usedBy, added }: License) {
  const by = usedBy?.name && (
    <>
      {' '}
      by <bdi>{usedBy.name}</bdi>
    </>
  )
  return added ? (
    <>It was added{by}. The end user stays and loses the time, features and devices that it added.</>
  ) : (
    <>It is in use{by}. The end user stays in your list, but expires immediately and can no longer sign in.</>
  )
}

export interface DeleteAllDialogProps {
  /** Undefined deletes the licenses of all apps. */
  app: { _id: string; name: string } | undefined
  count: number
  onClose: () => void
}

export function DeleteAllDialog({ app, count, onClose }: DeleteAllDialogProps) {
  const remove = useDeleteAllLicenses()
  const amount = formatNumber(count)
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Delete All Licenses"
      description={
        <>
          {count === 1 ? 'The only license' : `All ${amount} licenses`} of{' '}
          <span className="font-medium text-fg">{app ? app.name : 'all your apps'}</span> will be deleted,
          including those hidden by the current filters. This action cannot be undone.
        </>
      }
      loss="End users who registered with one of these keys stay in your list, but expire immediately. Programs that run offline go on until their lease or activation file ends."
      typed="delete all"
      confirmLabel="Delete All"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(app?._id, { onSuccess: onClose })}
    />
  )
}

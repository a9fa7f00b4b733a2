import type { Release } from '@keyward/contract'
import { amountOf } from '../../lib/format/words.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { useNotify, useNotifyPreview } from './exposure-queries.ts'

/** Says how many customers would be mailed, and mails them. */
export function NotifyDialog({ release, onClose }: { release: Release; onClose: () => void }) {
  const preview = useNotifyPreview(release._id)
  const notify = useNotify(release)
  const { customers = 0, told = 0, unreachable = 0 } = preview.data ?? {}
  return (
    <ConfirmDialog
      title={`Mail customers about ${release.version}?`}
      description="Each customer with an affected device gets one mail about this release, also those who want no other mails."
      confirmLabel={customers > 0 ? `Mail ${amountOf(customers, 'Customer')}` : 'Mail Customers'}
      tone="neutral"
      complete={customers > 0}
      busy={notify.isPending}
      onConfirm={() => notify.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      {preview.isError && <QueryError query={preview} title="Failed to count the customers" />}
      {preview.isPending && <Skeleton className="h-12" />}
      {preview.data && (
        <p role="status">
          {customers === 0 ? 'Nobody is left to mail.' : `${amountOf(customers, 'customer')} will be mailed.`}
          {told > 0 && ` ${amountOf(told, 'customer')} got the mail before.`}
          {unreachable > 0 &&
            ` Nobody can be mailed about ${amountOf(unreachable, 'affected device')} without a customer.`}
        </p>
      )}
    </ConfirmDialog>
  )
}

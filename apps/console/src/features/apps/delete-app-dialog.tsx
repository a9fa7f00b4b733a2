import type { App } from '@keyward/contract'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useDeleteApp, useDeletionPreview } from './queries.ts'

export function DeleteAppDialog({ app, onClose }: { app: App; onClose: () => void }) {
  const remove = useDeleteApp()
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Delete Application"
      description={
        <>
          <strong className="font-semibold text-fg">{app.name}</strong> and everything that belongs to it will
          be removed:
        </>
      }
      loss="This cannot be undone. Programs built with this app stop working immediately."
      typed={app.name}
      confirmLabel="Delete"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(app._id, { onSuccess: onClose })}
    >
      <Preview id={app._id} />
    </ConfirmDialog>
  )
}

function Preview({ id }: { id: string }) {
  const preview = useDeletionPreview(id)
  if (preview.isError) {
    return (
      <div className="flex flex-wrap items-center justify-between gap-2 rounded-lg border border-warning-line bg-warning-soft px-3 py-2.5 text-warning-text">
        <p className="flex-1 basis-48">
          The counts are unknown because they failed to load. All resellers, licenses and end users of the app
          will still be removed.
        </p>
        <Button size="sm" onClick={() => preview.refetch()} loading={preview.isFetching}>
          Try Again
        </Button>
      </div>
    )
  }
  const counts = [
    { label: 'Resellers', value: preview.data?.resellers },
    { label: 'Licenses', value: preview.data?.licenses },
    { label: 'End Users', value: preview.data?.endUsers },
  ]
  return (
    <dl className="grid grid-cols-3 divide-x rounded-lg border text-center">
      {counts.map(({ label, value }) => (
        <div key={label} className="grid justify-items-center gap-0.5 px-2 py-2.5">
          <dd className="order-first font-semibold text-lg tabular-nums">
            {value === undefined ? <Skeleton className="my-0.5 h-6 w-8" /> : formatNumber(value)}
          </dd>
          <dt className="text-[0.8125rem] text-fg-muted">{label}</dt>
        </div>
      ))}
    </dl>
  )
}

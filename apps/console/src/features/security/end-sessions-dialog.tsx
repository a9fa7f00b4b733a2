import type { Holder } from '../../lib/api/holders.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useEndOtherSessions } from './queries.ts'

export function EndSessionsDialog({ holder, onClose }: { holder: Holder; onClose: () => void }) {
  const end = useEndOtherSessions(holder)
  return (
    <ConfirmDialog
      title="End All Other Sessions"
      description="You are signed out everywhere except in this browser."
      tone="neutral"
      confirmLabel="End Sessions"
      busy={end.isPending}
      onConfirm={() => end.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}

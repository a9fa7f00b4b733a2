import type { ApiKey } from '@keyward/contract'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useRevokeApiKey } from './queries.ts'

export function RevokeDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const revoke = useRevokeApiKey()
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Revoke ${apiKey.name}?`}
      description={
        <>
          The key <code className="font-mono">{`kwa_…${apiKey.hint}`}</code> is refused from its next request
          on.
        </>
      }
      loss="Scripts and services that use it stop working. A revoked key cannot be restored; create another one instead."
      confirmLabel="Revoke Key"
      busy={revoke.isPending}
      onConfirm={() => revoke.mutate(apiKey, { onSuccess: onClose })}
    />
  )
}

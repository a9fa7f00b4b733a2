import type { License } from '@keyward/contract'
import { useState } from 'react'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { KeyText } from '../../ui/key-text.tsx'
import { ReasonField } from '../../ui/note-field.tsx'
import { useSetLicenseBan } from './queries.ts'

export function BanLicenseDialog({ license, onClose }: { license: License; onClose: () => void }) {
  const ban = useSetLicenseBan()
  const [reason, setReason] = useState('')
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Ban License"
      description={
        <>
          {license.app.name} rejects <KeyText className="text-fg">{keyPrefix(license.key)}</KeyText> on the
          next call. You can lift the ban at any time.
        </>
      }
      confirmLabel="Ban License"
      busy={ban.isPending}
      onConfirm={() => ban.mutate({ license, banned: true, reason }, { onSuccess: onClose })}
    >
      <ReasonField value={reason} onChange={setReason} />
    </ConfirmDialog>
  )
}

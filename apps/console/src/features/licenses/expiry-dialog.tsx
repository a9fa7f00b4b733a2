import type { License } from '@keyward/contract'
import { useState } from 'react'
import { useApp } from '../../lib/api/apps.ts'
import { isNetworkError } from '../../lib/api/call.ts'
import { noDateText, oldProgramsWarning } from '../../lib/format/ending.ts'
import { toExtension } from '../../lib/format/extension.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { KeyText } from '../../ui/key-text.tsx'
import { type Time, TimeDialog } from '../../ui/time-dialog.tsx'
import { useEditExpiry } from './expiry-queries.ts'

export interface ExpiryDialogProps {
  kind: 'extend' | 'edit-expiry'
  license: License
  onClose: () => void
}

const words = {
  extend: { title: 'Extend License', submitLabel: 'Extend License' },
  'edit-expiry': { title: 'Edit Expiry', submitLabel: 'Update Expiry' },
}

export function ExpiryDialog({ kind, license, onClose }: ExpiryDialogProps) {
  const edit = useEditExpiry()
  const { app } = useApp(license.app._id)
  const { expiresAt, term } = license
  // Without a response, the edit may be saved: sending the same expiry again is no conflict.
  const [lost, setLost] = useState<{ asked: string; expiresAt: string | null }>()

  function submit(time: Time) {
    const { asked, added, fromNow, end } = time
    const newEnd = lost?.asked === asked ? lost.expiresAt : (end?.toISOString() ?? null)
    edit.mutate(
      {
        id: license._id,
        more: added && !fromNow ? toExtension(time) : undefined,
        expiresAt: newEnd,
        seen: { expiresAt, term },
      },
      {
        onSuccess: onClose,
        onError: (error) => setLost(isNetworkError(error) ? { asked, expiresAt: newEnd } : undefined),
      },
    )
  }

  return (
    <TimeDialog
      {...words[kind]}
      startsFromNow={kind === 'edit-expiry'}
      ends={[expiresAt]}
      noEnd={noDateText(license)}
      shorten={{ label: 'Shorten the license', warning: shortenWarning(license) }}
      neverWarning={oldProgramsWarning(app)}
      facts={[{ label: 'License', value: <KeyText>{keyPrefix(license.key)}</KeyText> }]}
      busy={edit.isPending || edit.isSuccess}
      onSubmit={submit}
      onClose={onClose}
    >
      {license.usedBy && (
        <p className="text-[0.8125rem] text-fg-muted">
          The end user <bdi className="font-medium text-fg">{license.usedBy.name}</bdi> gets the same expiry.
        </p>
      )}
    </TimeDialog>
  )
}

function shortenWarning({ expiresAt, term }: Pick<License, 'expiresAt' | 'term'>): string {
  if (expiresAt !== null) return 'The new expiry is earlier than the current one. This shortens the license.'
  return term === 'first_use'
    ? 'The license then no longer counts from its first use.'
    : 'The license never expires now. This shortens it.'
}

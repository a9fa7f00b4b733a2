import { useState } from 'react'
import type { Holder } from '../../lib/api/holders.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { CodeInput } from './code-input.tsx'
import { proofFailure } from './failures.ts'
import { useRemoveTotp } from './queries.ts'

export interface RemoveTotpDialogProps {
  holder: Holder
  /** Whether the account keeps a passkey. */
  keepsFactor: boolean
  onClose: () => void
}

export function RemoveTotpDialog({ holder, keepsFactor, onClose }: RemoveTotpDialogProps) {
  const remove = useRemoveTotp(holder)
  const [code, setCode] = useState('')
  const error = remove.error ? proofFailure(remove.error) : undefined
  return (
    <ConfirmDialog
      title="Turn Off the Authenticator App"
      loss={
        keepsFactor
          ? 'Its codes no longer work. Signing in then asks for a passkey or a recovery code.'
          : 'Its codes and your recovery codes no longer work. Your password alone then signs you in.'
      }
      field={
        <Field label="Code" hint="Of the app, or a recovery code" error={error}>
          <CodeInput inputMode="text" value={code} onChange={(event) => setCode(event.target.value)} />
        </Field>
      }
      complete={code.trim() !== ''}
      confirmLabel="Turn Off"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(code, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}

import { useState } from 'react'
import type { Holder } from '../../lib/api/holders.ts'
import { CopyField } from '../../ui/copy-button.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { CodeInput } from './code-input.tsx'
import { proofFailure } from './failures.ts'
import { QrCode } from './qr-code.tsx'
import { useConfirmTotp } from './queries.ts'

export interface TotpDialogProps {
  holder: Holder
  app: { secret: string; uri: string }
  /** Gets the recovery codes, which the server never shows again. */
  onDone: (recoveryCodes: string[]) => void
  onClose: () => void
}

/** Connects an authenticator app. */
export function TotpDialog({ holder, app, onDone, onClose }: TotpDialogProps) {
  const confirm = useConfirmTotp(holder)
  const [code, setCode] = useState('')
  const error = confirm.error ? proofFailure(confirm.error) : undefined
  return (
    <FormDialog
      title="Set Up an Authenticator App"
      description="Scan the code with the app, then enter the 6 digits that it shows."
      busy={confirm.isPending}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault()
        if (code.trim() && !confirm.isPending) confirm.mutate(code, { onSuccess: onDone })
      }}
      submitLabel="Turn On"
      disabled={!code.trim()}
    >
      <div className="grid justify-items-center">
        <QrCode text={app.uri} label="QR code for an authenticator app" />
      </div>
      <CopyField label="Or enter this key in the app" value={inGroups(app.secret)} />
      <Field label="Code" error={error}>
        <CodeInput value={code} onChange={(event) => setCode(event.target.value)} />
      </Field>
    </FormDialog>
  )
}

/** Easier to type; apps ignore the spaces. */
const inGroups = (secret: string) => secret.replace(/(.{4})(?=.)/g, '$1 ')

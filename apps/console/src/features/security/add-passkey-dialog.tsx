import { useState } from 'react'
import type { Holder } from '../../lib/api/holders.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Input } from '../../ui/input.tsx'
import { describeAgent } from './agent.ts'
import { proofFailure } from './failures.ts'
import { createPasskey } from './passkeys.ts'
import { useAddPasskey } from './queries.ts'

export interface AddPasskeyDialogProps {
  holder: Holder
  /** Gets recovery codes if the account had none, and otherwise null. */
  onDone: (recoveryCodes: string[] | null) => void
  onClose: () => void
}

export function AddPasskeyDialog({ holder, onDone, onClose }: AddPasskeyDialogProps) {
  const add = useAddPasskey(holder)
  const [name, setName] = useState(() => describeAgent(navigator.userAgent))
  const error = add.error ? proofFailure(add.error) : undefined
  return (
    <FormDialog
      title="Add a Passkey"
      description="Your browser asks for a fingerprint, a face, a PIN or a security key."
      busy={add.isPending}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault()
        if (!name.trim() || add.isPending) return
        add.mutate(
          { name: name.trim(), create: createPasskey },
          { onSuccess: ({ recoveryCodes }) => onDone(recoveryCodes) },
        )
      }}
      submitLabel="Continue"
      disabled={!name.trim()}
    >
      <Field label="Name" hint="Tells your passkeys apart" error={error}>
        <Input
          value={name}
          maxLength={60}
          autoComplete="off"
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
    </FormDialog>
  )
}

import { limits } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Fingerprint } from 'lucide-react'
import { useEffect, useState } from 'react'
import { call, hasCode } from '../../lib/api/call.ts'
import { ownerHolder, resellerHolder } from '../../lib/api/holders.ts'
import { resellerSession, type Session, useToken } from '../../lib/api/session.ts'
import { useWrite } from '../../lib/api/write.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogBody, DialogFooter, DialogForm } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Callout, QueryError } from '../../ui/states.tsx'
import { CodeInput } from './code-input.tsx'
import { passkeyFailure, proofFailure } from './failures.ts'
import { askPasskey, passkeysWork } from './passkeys.ts'

export interface ConfirmIdentityProps {
  session: Session
  /** Gets whether the server accepted a proof; false if the dialog was closed. */
  onAnswer: (confirmed: boolean) => void
}

/** Asks for the password, or for a second factor of an account that has one. */
export function ConfirmIdentity({ session, onAnswer }: ConfirmIdentityProps) {
  const holder = session === resellerSession ? resellerHolder : ownerHolder
  const client = useQueryClient()
  const signedOut = useToken(session) === null
  const asked = useQuery({
    queryKey: [...holder.securityKey, 'proof'],
    queryFn: () => call(holder.sessions.confirmOptions),
    gcTime: 0,
  })
  const confirm = useWrite({
    mutationFn: async (proof: 'passkey' | { password: string } | { code: string }) => {
      const body = proof === 'passkey' ? { credential: await askPasskey(asked.data?.options ?? {}) } : proof
      return call(holder.sessions.confirm, { body })
    },
    onSuccess: () => onAnswer(true),
    onError: (error) => {
      if (hasCode(error, 'challenge_ended')) void asked.refetch()
    },
  })
  const [text, setText] = useState('')

  // biome-ignore lint/correctness/useExhaustiveDependencies: only the end of the session closes the dialog
  useEffect(() => {
    if (signedOut) onAnswer(false)
  }, [signedOut])

  const methods = asked.data?.methods ?? []
  const kind = methods.includes('password') ? 'password' : methods.includes('totp') ? 'code' : undefined
  const hasPasskey = methods.includes('passkey')
  const canUsePasskey = hasPasskey && passkeysWork()
  const byPasskey = confirm.variables === 'passkey'
  const failure = confirm.error && (byPasskey ? passkeyFailure : proofFailure)(confirm.error)
  const close = () => onAnswer(false)

  function submit() {
    if (confirm.isPending) return
    if (!kind) confirm.mutate('passkey')
    else if (text.trim()) confirm.mutate(kind === 'password' ? { password: text } : { code: text })
  }

  return (
    <Dialog
      title="Confirm that it is you"
      description={`Then you are not asked again for ${limits.identityMinutes} minutes.`}
      size="sm"
      busy={confirm.isPending}
      onClose={close}
    >
      {asked.data ? (
        <DialogForm
          onSubmit={(event) => {
            event.preventDefault()
            // Events of a portal bubble through React components: do not submit a form around this dialog.
            event.stopPropagation()
            submit()
          }}
        >
          <DialogBody>
            <input
              type="email"
              autoComplete="username"
              value={client.getQueryData<{ email: string }>(holder.profileKey)?.email ?? ''}
              readOnly
              hidden
            />
            {kind === 'password' && (
              <PasswordField error={failure ?? undefined} value={text} onChange={setText} />
            )}
            {kind === 'code' && (
              <Field
                label="Code"
                hint="6 digits from your authenticator app"
                error={(!byPasskey && failure) || undefined}
              >
                <CodeInput value={text} onChange={(event) => setText(event.target.value)} />
              </Field>
            )}
            {!kind && !canUsePasskey && (
              <Callout tone="warning">
                Your second factor is a passkey, which your browser cannot use here.
              </Callout>
            )}
            {kind && canUsePasskey && (
              <Button onClick={() => confirm.mutate('passkey')} disabled={confirm.isPending}>
                <Fingerprint />
                Use a Passkey
              </Button>
            )}
            {byPasskey && failure && (
              <p role="alert" className="text-[0.8125rem] text-danger-text">
                {failure}
              </p>
            )}
          </DialogBody>
          <DialogFooter>
            <Button onClick={close} disabled={confirm.isPending}>
              Cancel
            </Button>
            {(kind || canUsePasskey) && (
              <Button
                type="submit"
                variant="primary"
                loading={confirm.isPending}
                disabled={kind !== undefined && !text.trim()}
              >
                {kind ? 'Confirm' : 'Use Passkey'}
              </Button>
            )}
          </DialogFooter>
        </DialogForm>
      ) : (
        <DialogBody>
          {asked.isError ? (
            <QueryError query={asked} title="This could not be loaded" boxed />
          ) : (
            <Skeleton className="h-16" />
          )}
        </DialogBody>
      )}
    </Dialog>
  )
}

import { Fingerprint } from 'lucide-react'
import { useAttempt } from '../../lib/api/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { passkeyFailure } from './failures.ts'
import { askPasskey, type PasskeyAnswer, passkeysWork } from './passkeys.ts'

export interface PasskeySignInProps {
  begin: () => Promise<{ challenge: string; options: object }>
  /** Shows the passkey to the server and starts the session. */
  finish: (body: { challenge: string; credential: PasskeyAnswer }) => Promise<unknown>
}

/** Signs in with a passkey alone, where the browser can. */
export function PasskeySignIn({ begin, finish }: PasskeySignInProps) {
  const signIn = useAttempt({
    mutationFn: async () => {
      const { challenge, options } = await begin()
      return finish({ challenge, credential: await askPasskey(options) })
    },
  })
  if (!passkeysWork()) return null
  return (
    <div className="mt-3 grid gap-3">
      <Button size="lg" loading={signIn.isPending} onClick={() => signIn.mutate(undefined)}>
        {!signIn.isPending && <Fingerprint />}
        Sign in with a Passkey
      </Button>
      {signIn.error !== undefined && (
        <p
          role="alert"
          className="rounded-lg border border-danger-line bg-danger-soft px-3 py-2.5 text-danger-text"
        >
          {passkeyFailure(signIn.error)}
        </p>
      )}
    </div>
  )
}

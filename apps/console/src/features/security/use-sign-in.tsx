import { Fingerprint } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useAttempt } from '../../lib/api/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { passkeyFailure } from './failures.ts'
import { askPasskey, type PasskeyAnswer, passkeysWork } from './passkeys.ts'
import { type SecondStepOptions, useSecondStep } from './second-step.tsx'

export interface SignInOptions<SignedIn> {
  /** The form of email and password. */
  form: (props: { email: string; onSecondStep: (step: SecondStep, email: string) => void }) => ReactNode
  begin: PasskeySignInProps['begin']
  /** Shows a passkey, or the second factor, to the server. */
  finish: (...args: Parameters<PasskeySignInProps['finish']>) => Promise<SignedIn>
  complete: (...args: Parameters<SecondStepOptions['show']>) => Promise<SignedIn>
  welcome: (signedIn: SignedIn) => Promise<void>
}

type SecondStep = Parameters<ReturnType<typeof useSecondStep>['begin']>[0]

/** A sign-in by password or passkey. `page` takes the place of the whole page: the second step. */
export function useSignIn<SignedIn>({ form, begin, finish, complete, welcome }: SignInOptions<SignedIn>) {
  const [email, setEmail] = useState('')
  const secondStep = useSecondStep({
    show: async (shown) => welcome(await complete(shown)),
    again: 'Please sign in again.',
  })
  const onSecondStep = (step: SecondStep, typed: string) => {
    setEmail(typed)
    secondStep.begin(step)
  }
  return {
    page: secondStep.page,
    email,
    setEmail,
    fields: (
      <>
        {secondStep.notice}
        {form({ email, onSecondStep })}
        <PasskeySignIn begin={begin} finish={async (body) => welcome(await finish(body))} />
      </>
    ),
  }
}

interface PasskeySignInProps {
  begin: () => Promise<{ challenge: string; options: object }>
  /** Shows the passkey to the server and starts the session. */
  finish: (body: { challenge: string; credential: PasskeyAnswer }) => Promise<unknown>
}

/** Signs in with a passkey alone, where the browser can. */
function PasskeySignIn({ begin, finish }: PasskeySignInProps) {
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

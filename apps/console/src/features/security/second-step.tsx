import type { SecondFactorStep } from '@keyward/contract'
import { Fingerprint } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useAttempt } from '../../lib/api/attempt.ts'
import { hasCode } from '../../lib/api/call.ts'
import { AuthFrame } from '../../ui/auth-frame.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { LogoMark } from '../../ui/logo.tsx'
import { Callout } from '../../ui/states.tsx'
import { useTitle } from '../../ui/use-title.ts'
import { CodeInput, RecoveryCodeInput } from './code-input.tsx'
import { passkeyFailure, proofFailure } from './failures.ts'
import { askPasskey, type PasskeyAnswer, passkeysWork } from './passkeys.ts'

type SecondStep = SecondFactorStep['secondFactor']

type Shown = { challenge: string } & (
  | { code: string }
  | { recoveryCode: string }
  | { credential: PasskeyAnswer }
)

interface SecondStepPageProps {
  step: SecondStep
  /** Shows the factor to the server and starts the session. */
  show: (shown: Shown) => Promise<unknown>
  /** Returns to the first step; `ended` if the server no longer accepts the challenge, or the link behind it. */
  onBack: (ended: boolean) => void
}

/** The challenge, or the mailed link behind it, works no longer. */
const over = ['challenge_ended', 'reset_link_invalid', 'invitation_invalid'] as const

type Kind = 'code' | 'passkey' | 'recovery'

/** The second step of a sign-in, a password reset or an invitation. */
function SecondStepPage({ step, show, onBack }: SecondStepPageProps) {
  const { challenge, methods, options } = step
  const canUsePasskey = methods.includes('passkey') && options !== null && passkeysWork()
  const first: Kind = methods.includes('totp') ? 'code' : canUsePasskey ? 'passkey' : 'recovery'
  const [kind, setKind] = useState<Kind>(first)
  const [text, setText] = useState('')
  const form = useRef<HTMLFormElement>(null)
  const showing = useAttempt({
    mutationFn: async (by: Kind) => {
      if (by === 'passkey') return show({ challenge, credential: await askPasskey(options ?? {}) })
      return show(by === 'code' ? { challenge, code: text } : { challenge, recoveryCode: text })
    },
    onError: (error) => {
      if (over.some((code) => hasCode(error, code))) onBack(true)
    },
  })
  useTitle('Second Step')

  // biome-ignore lint/correctness/useExhaustiveDependencies: each kind has a control of its own, which gets the focus
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('input, [type="submit"]')?.focus()
  }, [kind])

  const byPasskey = showing.variables === 'passkey'
  const failure = showing.error ? (byPasskey ? passkeyFailure : proofFailure)(showing.error) : undefined
  const busy = showing.isPending

  function turnTo(next: Kind) {
    setKind(next)
    setText('')
    showing.reset()
  }

  return (
    <AuthFrame
      logo={<LogoMark className="size-11" />}
      title="One more step"
      lead="Your account asks for a second factor."
      footer={
        <p>
          <Button variant="link" onClick={() => onBack(false)}>
            Back to Sign In
          </Button>
        </p>
      }
    >
      <form
        ref={form}
        noValidate
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!busy && (kind === 'passkey' || text.trim())) showing.mutate(kind)
        }}
      >
        {kind === 'code' && (
          <Field
            label="Code"
            hint="6 digits from your authenticator app"
            error={byPasskey ? undefined : failure}
          >
            <CodeInput value={text} onChange={(event) => setText(event.target.value)} />
          </Field>
        )}
        {kind === 'recovery' && (
          <Field
            label="Recovery code"
            hint="One of those that you saved. It works once."
            error={byPasskey ? undefined : failure}
          >
            <RecoveryCodeInput value={text} onChange={(event) => setText(event.target.value)} />
          </Field>
        )}
        {byPasskey && failure && (
          <p
            role="alert"
            className="rounded-lg border border-danger-line bg-danger-soft px-3 py-2.5 text-danger-text"
          >
            {failure}
          </p>
        )}
        <Button type="submit" variant="primary" size="lg" loading={busy && kind === showing.variables}>
          {kind === 'passkey' && !busy && <Fingerprint />}
          {kind === 'passkey' ? 'Use Passkey' : 'Continue'}
        </Button>
        {kind !== 'passkey' && canUsePasskey && (
          <Button size="lg" disabled={busy} onClick={() => showing.mutate('passkey')}>
            <Fingerprint />
            Use a Passkey
          </Button>
        )}
        {first !== 'recovery' && (
          <p className="text-center">
            {kind === 'recovery' ? (
              <Button variant="link" onClick={() => turnTo(first)}>
                {first === 'code' ? 'Use the Authenticator App' : 'Use a Passkey'}
              </Button>
            ) : (
              <Button variant="link" onClick={() => turnTo('recovery')}>
                Use a Recovery Code
              </Button>
            )}
          </p>
        )}
      </form>
    </AuthFrame>
  )
}

export interface SecondStepOptions {
  show: SecondStepPageProps['show']
  /** What the user does after a second step that took too long. */
  again: string
  /** Runs when the user leaves the second step. */
  onLeave?: () => void
}

/** For a form that may lead to a second step: `page` replaces it during that step, `notice` is shown after one that took too long. */
export function useSecondStep({ show, again, onLeave }: SecondStepOptions) {
  const [step, setStep] = useState<SecondStep>()
  const [ended, setEnded] = useState(false)
  return {
    begin: setStep,
    page: step && (
      <SecondStepPage
        step={step}
        show={show}
        onBack={(hasEnded) => {
          setStep(undefined)
          setEnded(hasEnded)
          if (!hasEnded) onLeave?.()
        }}
      />
    ),
    notice: ended && (
      <div role="alert" className="mb-5">
        <Callout tone="warning">The second step took too long. {again}</Callout>
      </div>
    ),
  }
}

import type { SecondFactorStep } from '@keyward/contract'
import { useNavigate } from 'react-router'
import {
  PasswordPage,
  type PasswordPageProps,
  usePasswordChanged,
} from '../features/password-reset/password-page.tsx'
import { type SecondStepOptions, useSecondStep } from '../features/security/second-step.tsx'

export interface PasswordPagesProps<Session extends object>
  extends Omit<PasswordPageProps, 'reset' | 'notice'> {
  reset: (body: { token: string; password: string }) => Promise<Session | SecondFactorStep>
  /** Ends a second step. */
  complete: (shown: Parameters<SecondStepOptions['show']>[0]) => Promise<Session>
  start: (session: Session) => void
}

/** The pages of a new password, with the second step that may follow. */
export function PasswordPages<Session extends object>(props: PasswordPagesProps<Session>) {
  const { reset, complete, start, ...page } = props
  const navigate = useNavigate()
  const changed = usePasswordChanged(page.paths.home)
  const secondStep = useSecondStep({
    show: async (shown) => {
      start(await complete(shown))
      changed()
    },
    again: 'Please choose your password again.',
    onLeave: () => void navigate(page.paths.signIn, { replace: true }),
  })
  if (secondStep.page) return secondStep.page
  return (
    <PasswordPage
      {...page}
      notice={secondStep.notice}
      reset={async (body) => {
        const data = await reset(body)
        if ('secondFactor' in data) secondStep.begin(data.secondFactor)
        else start(data)
        return !('secondFactor' in data)
      }}
    />
  )
}

import { useState } from 'react'
import { ownerSession } from '../lib/api/session.ts'
import { paths } from '../lib/navigation/paths.ts'
import { SignInPage, type SignInPageProps } from './sign-in.tsx'
import { StartRoot } from './start-root.tsx'

const loadSession = () => import('../features/account/session.ts')

export const SignInRoot = () => (
  <StartRoot session={ownerSession} home={paths.dashboard} loadSession={loadSession}>
    {(parts) => <SignIn {...parts} />}
  </StartRoot>
)

function SignIn(parts: Pick<SignInPageProps, 'start' | 'Link'>) {
  const [tab, setTab] = useState(
    () => new URLSearchParams(globalThis.location?.search).get('tab') ?? undefined,
  )
  function onTab(next: string | undefined) {
    const { pathname, hash } = window.location
    window.history.replaceState(window.history.state, '', `${pathname}${next ? `?tab=${next}` : ''}${hash}`)
    setTab(next)
  }
  return <SignInPage {...parts} tab={tab} onTab={onTab} />
}

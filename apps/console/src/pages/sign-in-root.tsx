import { type ComponentType, type MouseEvent, useCallback, useEffect, useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import type { SignedIn } from '../features/account/sign-in.ts'
import type { LinkPart } from '../features/account/sign-in-form.tsx'
import { ownerSession, useToken } from '../lib/api/session.ts'
import { onFirstGesture } from '../lib/browser/gesture.ts'
import { paths } from '../lib/navigation/paths.ts'
import { Toaster } from '../ui/toast.tsx'
import { showKeptToasts } from '../ui/toast-handover.ts'
import { SignInPage } from './sign-in.tsx'

const loadConsole = () => import('../app.tsx')
const loadSession = () => import('../features/account/session.ts')

/** The page to sign in, opened directly. The console, with its router, replaces it as soon as another page is wanted. */
export function SignInRoot() {
  const [Console, setConsole] = useState<ComponentType>()
  return Console ? <Console /> : <SignIn show={setConsole} />
}

function SignIn({ show }: { show: (console: () => ComponentType) => void }) {
  const [tab, setTab] = useState(
    () => new URLSearchParams(globalThis.location?.search).get('tab') ?? undefined,
  )
  const isSignedIn = useToken(ownerSession) !== null

  /** Shows the console at the address of the browser; at once, so that a message after it is not shown on this page. */
  const leave = useCallback(async () => {
    const { App } = await loadConsole()
    flushSync(() => show(() => App))
  }, [show])
  const enter = useCallback(async () => {
    window.history.replaceState(null, '', window.history.state?.usr?.from ?? paths.dashboard)
    await leave()
  }, [leave])

  // The console is there when it is wanted, as offline.
  useEffect(() => onFirstGesture(() => void Promise.all([loadConsole(), loadSession()]).catch(() => {})), [])
  useEffect(showKeptToasts, [])
  useEffect(() => {
    if (isSignedIn) void enter()
  }, [isSignedIn, enter])

  const Link = useMemo<LinkPart>(
    () =>
      ({ to, state, ...props }) => {
        function onClick(event: MouseEvent) {
          if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
          event.preventDefault()
          // As the router keeps the state of a page.
          window.history.pushState({ usr: state }, '', to)
          void leave()
        }
        return <a {...props} href={to} onClick={onClick} />
      },
    [leave],
  )

  async function start(signedIn: SignedIn) {
    const [{ startSession }] = await Promise.all([loadSession(), loadConsole()])
    startSession(signedIn)
    await enter()
  }
  function onTab(next: string | undefined) {
    const { pathname, hash } = window.location
    window.history.replaceState(window.history.state, '', `${pathname}${next ? `?tab=${next}` : ''}${hash}`)
    setTab(next)
  }
  return (
    <>
      <SignInPage start={start} Link={Link} tab={tab} onTab={onTab} />
      <Toaster />
    </>
  )
}

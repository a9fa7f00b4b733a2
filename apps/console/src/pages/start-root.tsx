import {
  type ComponentType,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { flushSync } from 'react-dom'
import { type Session, useToken } from '../lib/api/session.ts'
import { onFirstGesture } from '../lib/browser/gesture.ts'
import type { LinkPart } from '../ui/auth-frame.tsx'
import { Toaster } from '../ui/toast.tsx'
import { showKeptToasts } from '../ui/toast-handover.ts'

const loadConsole = () => import('../app.tsx')

/** Never settles: nothing may be said on a page that goes. */
function reload(): Promise<void> {
  window.location.reload()
  return new Promise(() => {})
}

interface HasToken {
  token: string
}

export interface StartRootProps<SignedIn extends HasToken> {
  session: Session
  /** The first page after a sign-in. */
  home: string
  loadSession: () => Promise<{ startSession: (signedIn: SignedIn) => void }>
  children: (parts: { start: (signedIn: SignedIn) => Promise<void>; Link: LinkPart }) => ReactNode
}

/** A page to sign in, opened directly. The console, with its router, replaces it as soon as another page is wanted. */
export function StartRoot<SignedIn extends HasToken>(props: StartRootProps<SignedIn>) {
  const [Console, setConsole] = useState<ComponentType>()
  return Console ? <Console /> : <Start {...props} show={setConsole} />
}

interface StartProps<SignedIn extends HasToken> extends StartRootProps<SignedIn> {
  show: (console: () => ComponentType) => void
}

function Start<SignedIn extends HasToken>({
  session,
  home,
  loadSession,
  children,
  show,
}: StartProps<SignedIn>) {
  const isSignedIn = useToken(session) !== null

  /** Shows the console at the address of the browser; at once, so that a message after it is not shown on this page. */
  const leave = useCallback(async () => {
    const loaded = await loadConsole().catch(() => undefined)
    // An updated server has other files, which the page at that address names.
    if (!loaded) return reload()
    flushSync(() => show(() => loaded.App))
  }, [show])
  const entering = useRef<Promise<void>>(undefined)
  // Once: the address that it returns to is gone then.
  const enter = useCallback(() => {
    if (!entering.current) {
      window.history.replaceState(null, '', window.history.state?.usr?.from ?? home)
      entering.current = leave()
    }
    return entering.current
  }, [leave, home])

  // The console is there when it is wanted, as offline.
  useEffect(
    () => onFirstGesture(() => void Promise.all([loadConsole(), loadSession()]).catch(() => {})),
    [loadSession],
  )
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
    const parts = await Promise.all([loadSession(), loadConsole()]).catch(() => undefined)
    if (parts) parts[0].startSession(signedIn)
    else session.set(signedIn.token)
    await enter()
  }
  return (
    <>
      {children({ start, Link })}
      <Toaster />
    </>
  )
}

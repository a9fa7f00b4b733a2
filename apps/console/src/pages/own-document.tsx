import { type ReactNode, useLayoutEffect, useState } from 'react'
import { Navigate, useLocation } from 'react-router'
import { isServerThere } from '../lib/api/connection.ts'
import { paths } from '../lib/navigation/paths.ts'
import { reload } from '../lib/navigation/reload.ts'
import { PageSpinner } from '../ui/spinner.tsx'
import { ErrorState } from '../ui/states.tsx'

/** Pages that the server sends under a policy of their own, which goes for the whole document. */
const own: readonly string[] = [paths.subscription]
const documentOf = (pathname: string | undefined) => own.find((path) => path === pathname)
const opened = documentOf(globalThis.location?.pathname)

/**
 * Enters and leaves such a page by a full load: whatever way the router came to an address that belongs to another
 * document, that is loaded anew there. The address and its place in the history stay as they are.
 */
export function OwnDocument({ children }: { children: ReactNode }) {
  const { pathname, search, hash, state } = useLocation()
  if (documentOf(pathname) !== opened) return <Crossing />
  // The router takes /Subscription/ for the page too; the server does not.
  const meant = pathname.toLowerCase().replace(/\/+$/, '')
  if (meant !== pathname && documentOf(meant)) {
    return <Navigate to={{ pathname: meant, search, hash }} state={state} replace />
  }
  return children
}

/** Only a server that answers can give the other document; while there is none, the console says so and stays. */
function Crossing() {
  const [tries, setTries] = useState(0)
  const [failed, setFailed] = useState(false)

  // biome-ignore lint/correctness/useExhaustiveDependencies: another try is what begins anew
  useLayoutEffect(() => {
    let left = false
    setFailed(false)
    void isServerThere().then((there) => {
      if (left) return
      if (there) reload()
      else setFailed(true)
    })
    // A browser that brings the page back as it was would bring the spinner back.
    const onShow = (event: PageTransitionEvent) => event.persisted && reload()
    window.addEventListener('pageshow', onShow)
    return () => {
      left = true
      window.removeEventListener('pageshow', onShow)
    }
  }, [tries])

  if (!failed) return <PageSpinner />
  return (
    <main className="grid min-h-dvh place-items-center">
      <ErrorState
        title="The server cannot be reached"
        description="Please check your connection."
        onRetry={() => setTries(tries + 1)}
      />
    </main>
  )
}

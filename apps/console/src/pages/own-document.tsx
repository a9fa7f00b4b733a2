import { type ReactNode, useLayoutEffect, useState } from 'react'
import { Navigate, useLocation } from 'react-router'
import { paths } from '../lib/navigation/paths.ts'
import { isServerReachable, reload } from '../lib/navigation/reload.ts'
import { PageSpinner } from '../ui/spinner.tsx'
import { ErrorState } from '../ui/states.tsx'

/** Pages with their own Content-Security-Policy, which applies to the whole document. */
const isolatedPages: readonly string[] = [paths.subscription]
const retryMs = 2000
const documentOf = (pathname: string | undefined) => isolatedPages.find((path) => path === pathname)
const currentDocument = documentOf(globalThis.location?.pathname)

/**
 * Reloads the document whenever the router enters or leaves such a page. Address and history entry stay the same.
 */
export function OwnDocument({ children }: { children: ReactNode }) {
  const { pathname, search, hash, state } = useLocation()
  if (documentOf(pathname) !== currentDocument) return <DocumentReload />
  // The router also matches /Subscription/, but the server does not.
  const normalized = pathname.toLowerCase().replace(/\/+$/, '')
  if (normalized !== pathname && documentOf(normalized)) {
    return <Navigate to={{ pathname: normalized, search, hash }} state={state} replace />
  }
  return children
}

/** Loads the other document once the server responds; shows an error until then. */
function DocumentReload() {
  const [failed, setFailed] = useState(false)

  useLayoutEffect(() => {
    let unmounted = false
    let timer: ReturnType<typeof setTimeout>
    const load = async () => {
      const reachable = await isServerReachable()
      if (unmounted) return
      if (reachable) return reload()
      setFailed(true)
      timer = setTimeout(load, retryMs)
    }
    void load()
    // The back-forward cache would restore the spinner.
    const onShow = (event: PageTransitionEvent) => event.persisted && reload()
    window.addEventListener('pageshow', onShow)
    return () => {
      unmounted = true
      clearTimeout(timer)
      window.removeEventListener('pageshow', onShow)
    }
  }, [])

  if (!failed) return <PageSpinner />
  return (
    <main className="grid min-h-dvh place-items-center">
      <ErrorState
        title="The server cannot be reached"
        description="Please check your connection. This page opens as soon as the server responds."
      />
    </main>
  )
}

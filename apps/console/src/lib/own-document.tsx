import { type ReactNode, useLayoutEffect } from 'react'
import { Navigate, useLocation } from 'react-router'
import { PageSpinner } from '../ui/spinner.tsx'
import { paths } from './paths.ts'

/** Pages that the server sends under a policy of their own, which goes for the whole document. */
const own: readonly string[] = [paths.subscription]
const documentOf = (pathname: string) => own.find((path) => path === pathname)
const opened = typeof location === 'undefined' ? undefined : documentOf(location.pathname)

let reloading = false

/** True from the moment in which the router's page asks for another document. */
export const isReloading = () => reloading

function reload() {
  reloading = true
  window.location.reload()
}

/**
 * Enters and leaves such a page by a full load: whatever way the router came to an address that belongs to another
 * document, that is loaded anew there. The address and its place in the history stay as they are.
 */
export function OwnDocument({ children }: { children: ReactNode }) {
  const { pathname, search, hash, state } = useLocation()
  const foreign = documentOf(pathname) !== opened

  useLayoutEffect(() => {
    if (!foreign) return
    // A browser that brings the page back as it was would bring the spinner back.
    const onShow = (event: PageTransitionEvent) => event.persisted && reload()
    window.addEventListener('pageshow', onShow)
    reload()
    return () => window.removeEventListener('pageshow', onShow)
  }, [foreign])

  if (foreign) return <PageSpinner />
  // The router takes /Subscription/ for the page too; the server does not.
  const meant = pathname.toLowerCase().replace(/\/+$/, '')
  if (meant !== pathname && documentOf(meant)) {
    return <Navigate to={{ pathname: meant, search, hash }} state={state} replace />
  }
  return children
}

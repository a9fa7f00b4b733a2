import { useEffect } from 'react'
import { Outlet, useLocation } from 'react-router'
import { PublicFrame } from './public-frame.tsx'

/** The public pages inside the console's router. */
export function PublicLayout() {
  const { pathname, hash } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is what starts at its top
  useEffect(() => {
    if (!hash) window.scrollTo(0, 0)
  }, [pathname])

  return (
    <PublicFrame>
      <Outlet />
    </PublicFrame>
  )
}

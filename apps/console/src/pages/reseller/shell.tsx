import type { PortalReseller } from '@keyward/contract'
import { ExternalLink } from 'lucide-react'
import { Suspense, useEffect } from 'react'
import { Link, Outlet, useLocation } from 'react-router'
import { useReseller } from '../../features/portal/session.ts'
import { VendorLine, VendorLogo } from '../../features/portal/vendor.tsx'
import { resellerSession } from '../../lib/api/session.ts'
import { useIsPhone } from '../../lib/browser/use-media.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { AccountGuard } from '../../ui/account-guard.tsx'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import { Deferred } from '../../ui/deferred.tsx'
import { ErrorBoundary } from '../../ui/error-boundary.tsx'
import { PageSpinner } from '../../ui/spinner.tsx'
import { PortalSidebar, PortalTabBar } from './navigation.tsx'

const loadStatus = () => import('../connection-status.tsx')
const ConnectionBadge = lazyNamed(loadStatus, 'ConnectionBadge')
const DevelopmentBadge = lazyNamed(loadStatus, 'DevelopmentBadge')
const StaleNotice = lazyNamed(loadStatus, 'StaleNotice')

export function PortalShell() {
  return (
    <AccountGuard session={resellerSession} account={useReseller()} signIn={paths.resellerAuth}>
      {(reseller) => <Shell reseller={reseller} />}
    </AccountGuard>
  )
}

function Shell({ reseller }: { reseller: PortalReseller }) {
  const phone = useIsPhone()
  const { pathname } = useLocation()
  const width = pathname === paths.resellerLicenses ? 'max-w-400' : 'max-w-6xl'

  // biome-ignore lint/correctness/useExhaustiveDependencies: another page starts at its top
  useEffect(() => {
    window.scrollTo(0, 0)
  }, [pathname])

  return (
    <div className="flex min-h-dvh flex-col">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-50 focus:rounded-lg focus:border focus:bg-raised focus:px-4 focus:py-2"
      >
        Skip to content
      </a>
      <header
        data-top-bar=""
        className="sticky top-0 z-30 flex min-h-14 items-center gap-3 border-b bg-page/90 px-4 py-2 backdrop-blur-md md:px-5"
      >
        <Link to={paths.resellerDashboard} aria-label="Keyward dashboard" className="rounded-lg">
          <VendorLogo />
        </Link>
        <p className="min-w-0 flex-1 text-pretty font-medium text-[0.8125rem] leading-snug md:text-sm">
          Reseller Portal - Independent License Management
        </p>
        <Deferred>
          {/* It appears late: on a phone the title beside it would wrap again. */}
          <div className="max-md:hidden">
            <DevelopmentBadge />
          </div>
        </Deferred>
        <Button asChild size="sm">
          <a href={paths.root} target="_blank" rel="noreferrer">
            <span className="max-md:sr-only">Open Main Portal</span>
            <ExternalLink aria-hidden />
            <span className="sr-only"> (opens in a new tab)</span>
          </a>
        </Button>
      </header>
      <div className="flex flex-1">
        {!phone && <PortalSidebar reseller={reseller} />}
        <div className="min-w-0 flex-1">
          <main
            id="main"
            tabIndex={-1}
            className={cx(
              'mx-auto min-h-[calc(100dvh-3.5rem)] w-full px-4 py-4 outline-none md:px-8 md:py-9',
              width,
            )}
          >
            <Deferred>
              <StaleNotice />
            </Deferred>
            <ErrorBoundary resetKey={pathname}>
              <Suspense fallback={<PageSpinner />}>
                <Outlet />
              </Suspense>
            </ErrorBoundary>
          </main>
          <footer
            className={cx(
              'mx-auto w-full border-t px-4 py-5 text-[0.8125rem] text-fg-muted max-md:pb-24 md:px-8',
              width,
            )}
          >
            <VendorLine />
            Secure authentication platform{' '}
            <span className="tabular-nums">· Version {__KEYWARD_VERSION__}</span>
            <Deferred>
              <span className="ml-2 md:hidden">
                <DevelopmentBadge />
              </span>
            </Deferred>
          </footer>
        </div>
      </div>
      <Deferred>
        <ConnectionBadge className="max-md:bottom-[calc(4.5rem+env(safe-area-inset-bottom))]" />
      </Deferred>
      {phone && <PortalTabBar />}
    </div>
  )
}

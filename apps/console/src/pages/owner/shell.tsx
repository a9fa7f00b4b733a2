import type { User } from '@keyward/contract'
import { useQueryClient } from '@tanstack/react-query'
import { Menu as MenuIcon } from 'lucide-react'
import { Suspense, useCallback, useEffect, useState } from 'react'
import { Link, Outlet, useLocation } from 'react-router'
import { useApps } from '../../features/apps/queries.ts'
import { Search } from '../../features/command/search.tsx'
import { SearchButton } from '../../features/command/search-button.tsx'
import { findNotice } from '../../features/subscription/notice.ts'
import { placeOf, useOwner } from '../../lib/api/account.ts'
import { useFactorRequired } from '../../lib/api/factor-required.ts'
import { keepFresh } from '../../lib/api/refresher.ts'
import { RightsProvider, useMay } from '../../lib/api/rights.tsx'
import { serverNow } from '../../lib/api/server-time.ts'
import { ownerSession } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { useSidebarExpanded } from '../../lib/browser/sidebar.ts'
import { useIsPhone } from '../../lib/browser/use-media.ts'
import { useUnsavedForms } from '../../lib/form/unsaved.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { callOfPage, pageAt } from '../../lib/navigation/pages.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { AccountGuard } from '../../ui/account-guard.tsx'
import { IconButton } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import { Deferred } from '../../ui/deferred.tsx'
import { ErrorBoundary } from '../../ui/error-boundary.tsx'
import { LogoMark } from '../../ui/logo.tsx'
import { useOverlayPreload } from '../../ui/overlays.ts'
import { PageSpinner } from '../../ui/spinner.tsx'
import { ShellFooter } from './shell-footer.tsx'
import { Sidebar } from './sidebar.tsx'

const loadStatus = () => import('../connection-status.tsx')
const ConnectionBadge = lazyNamed(loadStatus, 'ConnectionBadge')
const DevelopmentBadge = lazyNamed(loadStatus, 'DevelopmentBadge')
const StaleNotice = lazyNamed(loadStatus, 'StaleNotice')
const FactorRequired = lazyNamed(() => import('./factor-required.tsx'), 'FactorRequired')
const ConsoleExtras = lazyNamed(() => import('./console-extras.tsx'), 'ConsoleExtras')
const PausedBanner = lazyNamed(() => import('../../features/platform/paused-banner.tsx'), 'PausedBanner')
const PlanNotice = lazyNamed(() => import('../../features/subscription/plan-notice.tsx'), 'PlanNotice')
const UnsavedBar = lazyNamed(() => import('./unsaved-bar.tsx'), 'UnsavedBar')
const NotIncluded = lazyNamed(() => import('./not-included.tsx'), 'NotIncluded')
const loadSheet = () => import('./sidebar-sheet.tsx')
const SidebarSheet = lazyNamed(loadSheet, 'SidebarSheet')

export function OwnerShell() {
  return (
    <>
      <AccountGuard session={ownerSession} account={useOwner()} signIn={paths.auth}>
        {(owner) => (
          <RightsProvider value={owner}>
            <Shell key={owner.vendor._id} owner={owner} />
          </RightsProvider>
        )}
      </AccountGuard>
      <Search />
    </>
  )
}

function Shell({ owner }: { owner: User }) {
  const phone = useIsPhone()
  const [expanded, setExpanded] = useSidebarExpanded()
  const [sheet, setSheet] = useState(false)
  const { pathname } = useLocation()
  const may = useMay()
  const needed = callOfPage(pathname)
  const apps = useApps()
  const factorRequired = useFactorRequired()
  const hasApps = (apps.data?.length ?? owner.apps.length) > 0
  const unsaved = useUnsavedForms()
  const notice = findNotice(owner.subscription, serverNow())

  const client = useQueryClient()
  useEffect(() => keepFresh(client), [client])

  useOverlayPreload()

  // Preload the menu, so that it opens instantly and offline.
  useEffect(() => {
    if (phone) void loadSheet().catch(() => {})
  }, [phone])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is what closes the sheet
  useEffect(() => {
    setSheet(false)
    window.scrollTo(0, 0)
  }, [pathname])

  const toggleSidebar = useCallback(() => {
    if (phone) setSheet((open) => !open)
    else setExpanded(!expanded)
  }, [phone, expanded, setExpanded])

  useEffect(() => {
    const toggle = (event: KeyboardEvent) => {
      if (
        event.key.toLowerCase() !== 'b' ||
        !(event.ctrlKey || event.metaKey) ||
        event.altKey ||
        event.shiftKey
      )
        return
      event.preventDefault()
      toggleSidebar()
    }
    window.addEventListener('keydown', toggle)
    return () => window.removeEventListener('keydown', toggle)
  }, [toggleSidebar])

  const mark = (
    <Deferred>
      <DevelopmentBadge />
    </Deferred>
  )
  return (
    <div className="md:flex">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-50 focus:rounded-lg focus:border focus:bg-raised focus:px-4 focus:py-2"
      >
        Skip to content
      </a>
      {phone ? (
        <header className="sticky top-0 z-30 flex h-14 items-center gap-2 border-b bg-page/90 px-3 backdrop-blur-md">
          <IconButton
            label="Open menu"
            aria-haspopup="dialog"
            aria-expanded={sheet}
            className="size-10"
            onClick={() => setSheet(true)}
          >
            <MenuIcon />
          </IconButton>
          <Link
            to={paths.landing}
            className="flex items-center gap-2 rounded-lg font-semibold tracking-tight"
          >
            <LogoMark className="size-6" />
            Keyward
          </Link>
          {mark}
          <SearchButton small className="ml-auto size-10" />
          {sheet && (
            <Deferred onFail={() => setSheet(false)}>
              <SidebarSheet onClose={() => setSheet(false)}>
                <Sidebar
                  owner={owner}
                  hasApps={hasApps}
                  expanded
                  onToggle={() => setSheet(false)}
                  toggleLabel="Close menu"
                />
              </SidebarSheet>
            </Deferred>
          )}
        </header>
      ) : (
        <aside
          aria-label="Sidebar"
          data-state={expanded ? 'expanded' : 'collapsed'}
          className={cx(
            'sticky top-0 flex h-dvh shrink-0 flex-col overflow-hidden border-r bg-sunken/50 transition-[width] duration-150',
            expanded ? 'w-[16rem]' : 'w-[3rem]',
          )}
        >
          <Sidebar
            owner={owner}
            hasApps={hasApps}
            expanded={expanded}
            onToggle={() => setExpanded(!expanded)}
            toggleLabel={expanded ? 'Collapse sidebar (Ctrl+B)' : 'Expand sidebar (Ctrl+B)'}
            search={<SearchButton small={!expanded} />}
            mark={mark}
          />
        </aside>
      )}
      <div className="min-w-0 flex-1">
        <main
          id="main"
          tabIndex={-1}
          className={cx(
            'mx-auto min-h-[calc(100dvh-3.5rem)] w-full px-4 py-4 outline-none md:min-h-dvh md:px-8 md:py-9',
            pageAt(pathname)?.isList ? 'max-w-400' : 'max-w-6xl',
          )}
        >
          {owner.vendor.paused && (
            <Deferred>
              <PausedBanner />
            </Deferred>
          )}
          {notice && pathname !== paths.subscription && may(wire.plans.subscription) && (
            <Deferred>
              <PlanNotice ownerId={placeOf(owner)} notice={notice} />
            </Deferred>
          )}
          <Deferred>
            <StaleNotice />
          </Deferred>
          <ErrorBoundary resetKey={pathname}>
            <Suspense fallback={<PageSpinner />}>
              {factorRequired && pathname !== paths.security ? (
                <FactorRequired />
              ) : needed === undefined || may(needed) ? (
                <Outlet />
              ) : (
                <NotIncluded key={pathname} user={owner} />
              )}
            </Suspense>
          </ErrorBoundary>
        </main>
        <ShellFooter wide={pageAt(pathname)?.isList ?? false} />
        {unsaved.length > 0 && (
          <Deferred>
            <UnsavedBar forms={unsaved} />
          </Deferred>
        )}
      </div>
      <Deferred>
        <ConnectionBadge />
      </Deferred>
      <Deferred>
        <ConsoleExtras owner={owner} onToggleSidebar={toggleSidebar} />
      </Deferred>
    </div>
  )
}

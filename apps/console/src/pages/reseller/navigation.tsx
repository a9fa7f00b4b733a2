import type { PortalReseller } from '@keyward/contract'
import { KeyRound, LayoutDashboard, LogOut, UserRound } from 'lucide-react'
import { NavLink } from 'react-router'
import { usePortalLogout } from '../../features/portal/session.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { cx } from '../../ui/cx.ts'

const entries = [
  { label: 'Dashboard', to: paths.resellerDashboard, icon: LayoutDashboard },
  { label: 'Licenses', to: paths.resellerLicenses, icon: KeyRound },
  { label: 'Profile', to: paths.resellerProfile, icon: UserRound },
]

const rowClass =
  'flex h-9 w-full items-center gap-3 rounded-lg px-2.5 font-medium transition-colors [&_svg]:size-4 [&_svg]:shrink-0'
const restingClass = 'text-fg-muted hover:bg-hover hover:text-fg'

export function PortalSidebar({ reseller }: { reseller: PortalReseller }) {
  const logout = usePortalLogout()
  return (
    <aside
      aria-label="Sidebar"
      className="sticky top-14 flex h-[calc(100dvh-3.5rem)] w-[16rem] shrink-0 flex-col border-r bg-sunken/50"
    >
      <nav aria-label="Main" className="flex flex-1 flex-col gap-6 overflow-y-auto px-2.5 py-3">
        <ul className="grid gap-0.5">
          {entries.map(({ label, to, icon: Icon }) => (
            <li key={to}>
              <NavLink
                to={to}
                className={({ isActive }) =>
                  cx(rowClass, isActive ? 'bg-accent-soft text-accent-text' : restingClass)
                }
              >
                <Icon aria-hidden />
                {label}
              </NavLink>
            </li>
          ))}
        </ul>
        <button type="button" onClick={logout} className={cx(rowClass, restingClass, 'mt-auto')}>
          <LogOut aria-hidden />
          Sign Out
        </button>
      </nav>
      <div className="border-t px-5 py-3">
        <p className="truncate font-medium" title={reseller.email}>
          {reseller.email}
        </p>
        <p className="truncate text-fg-muted text-xs" title={reseller.app_id.name}>
          {reseller.app_id.name}
        </p>
      </div>
    </aside>
  )
}

const tabClass =
  'flex h-14 w-full flex-col items-center justify-center gap-1 font-medium text-xs [&_svg]:size-5'

/** Replaces the sidebar on phones. */
export function PortalTabBar() {
  const logout = usePortalLogout()
  return (
    <nav
      aria-label="Main"
      data-tab-bar=""
      className="fixed inset-x-0 bottom-0 z-30 border-t bg-page pb-[env(safe-area-inset-bottom)]"
    >
      <ul className="grid grid-cols-4">
        {entries.map(({ label, to, icon: Icon }) => (
          <li key={to}>
            <NavLink
              to={to}
              className={({ isActive }) =>
                cx(tabClass, '-outline-offset-2', isActive ? 'text-accent-text' : 'text-fg-muted')
              }
            >
              <Icon aria-hidden />
              {label}
            </NavLink>
          </li>
        ))}
        <li>
          <button type="button" onClick={logout} className={cx(tabClass, '-outline-offset-2 text-fg-muted')}>
            <LogOut aria-hidden />
            Sign Out
          </button>
        </li>
      </ul>
    </nav>
  )
}

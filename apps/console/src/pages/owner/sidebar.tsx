import type { User } from '@keyward/contract'
import {
  Clock,
  ContactRound,
  CreditCard,
  KeyRound,
  LayoutDashboard,
  LogOut,
  type LucideIcon,
  PanelLeft,
  ScrollText,
  Settings,
  ShoppingCart,
  Store,
  UserRound,
  Users,
  UsersRound,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'react-router'
import { useLogout } from '../../features/account/session.ts'
import { VendorSwitcher } from '../../features/vendors/vendor-switcher.tsx'
import { useMay } from '../../lib/api/rights.tsx'
import { callOfPage } from '../../lib/navigation/page-calls.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { IconButton } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import { LogoMark } from '../../ui/logo.tsx'
import { toast } from '../../ui/toast.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'

interface Entry {
  label: string
  to: string
  icon: LucideIcon
  needsApp?: boolean
}

const work: Entry[] = [
  { label: 'Dashboard', to: paths.root, icon: LayoutDashboard },
  { label: 'Resellers', to: paths.resellers, icon: Store, needsApp: true },
  { label: 'Licenses', to: paths.licenses, icon: KeyRound, needsApp: true },
  { label: 'Orders', to: paths.orders, icon: ShoppingCart, needsApp: true },
  { label: 'End Users', to: paths.users, icon: Users, needsApp: true },
  { label: 'Customers', to: paths.customers, icon: ContactRound },
  { label: 'Activity', to: paths.activity, icon: Clock, needsApp: true },
]
const account: Entry[] = [
  { label: 'Profile', to: paths.profile, icon: UserRound },
  { label: 'Settings', to: paths.settings, icon: Settings },
  { label: 'Members', to: paths.members, icon: UsersRound },
  { label: 'Audit', to: paths.audit, icon: ScrollText },
  { label: 'Subscription', to: paths.subscription, icon: CreditCard },
]
const appNeeded = 'Create an app first to access this section'

function isActive(to: string, pathname: string) {
  if (to === paths.root) return pathname === paths.root || pathname === paths.dashboard
  return pathname === to || pathname.startsWith(`${to}/`)
}

export interface SidebarProps {
  owner: User
  hasApps: boolean
  expanded: boolean
  onToggle: () => void
  toggleLabel: string
  /** Shown above the entries. */
  search?: ReactNode
  /** Shown next to the logo. */
  mark?: ReactNode
}

export function Sidebar({ owner, hasApps, expanded, onToggle, toggleLabel, search, mark }: SidebarProps) {
  const logout = useLogout()
  const may = useMay()
  const included = ({ to }: Entry) => {
    const call = callOfPage(to)
    return call === undefined || may(call)
  }
  const entry = (item: Entry) => (
    <NavEntry key={item.to} {...item} expanded={expanded} disabled={Boolean(item.needsApp) && !hasApps} />
  )
  return (
    <>
      <div
        className={cx(
          'flex h-14 shrink-0 items-center',
          expanded ? 'justify-between pr-2 pl-3.5' : 'justify-center',
        )}
      >
        {expanded && (
          <Link
            to={paths.landing}
            className="flex items-center gap-2.5 rounded-lg font-semibold text-[0.9375rem] tracking-tight"
          >
            <LogoMark />
            Keyward
          </Link>
        )}
        {expanded && <span className="mr-auto ml-2.5">{mark}</span>}
        <IconButton label={toggleLabel} aria-expanded={expanded} onClick={onToggle}>
          <PanelLeft />
        </IconButton>
      </div>
      {search && <div className={cx('py-1', expanded ? 'px-2.5' : 'grid place-items-center')}>{search}</div>}
      <nav
        aria-label="Main"
        className={cx('flex flex-1 flex-col gap-6 overflow-y-auto py-2', expanded ? 'px-2.5' : 'px-1.5')}
      >
        <ul className="grid gap-0.5">{work.filter(included).map(entry)}</ul>
        <ul className="mt-auto grid gap-0.5">
          {account.filter(included).map(entry)}
          <li>
            <Hinted hint="Log Out" active={!expanded}>
              <button type="button" onClick={logout} className={entryClass(expanded, false)}>
                <LogOut aria-hidden />
                <span className={cx(!expanded && 'sr-only')}>Log Out</span>
              </button>
            </Hinted>
          </li>
        </ul>
      </nav>
      <VendorSwitcher user={owner} expanded={expanded} />
    </>
  )
}

function entryClass(expanded: boolean, active: boolean) {
  return cx(
    'flex h-10 w-full items-center gap-3 rounded-lg font-medium transition-colors md:h-9 [&_svg]:size-4 [&_svg]:shrink-0',
    expanded ? 'px-2.5' : 'justify-center',
    active ? 'bg-accent-soft text-accent-text' : 'text-fg-muted hover:bg-hover hover:text-fg',
  )
}

function Hinted({ hint, active, children }: { hint: string; active: boolean; children: ReactNode }) {
  return active ? (
    <Tooltip content={hint} side="right">
      {children}
    </Tooltip>
  ) : (
    children
  )
}

function NavEntry({
  label,
  to,
  icon: Icon,
  expanded,
  disabled,
}: Entry & { expanded: boolean; disabled: boolean }) {
  const { pathname } = useLocation()
  const active = isActive(to, pathname)
  const name = <span className={cx(!expanded && 'sr-only')}>{label}</span>
  if (disabled) {
    return (
      <li>
        <Tooltip content={appNeeded} side="right">
          <button
            type="button"
            aria-disabled
            onClick={() => toast.info(appNeeded)}
            className={cx(entryClass(expanded, false), '!cursor-not-allowed opacity-55 hover:bg-transparent')}
          >
            <Icon aria-hidden />
            {name}
          </button>
        </Tooltip>
      </li>
    )
  }
  return (
    <li>
      <Hinted hint={label} active={!expanded}>
        <Link to={to} aria-current={active ? 'page' : undefined} className={entryClass(expanded, active)}>
          <Icon aria-hidden />
          {name}
        </Link>
      </Hinted>
    </li>
  )
}

import type { User } from '@keyward/contract'
import { LogOut, PanelLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'react-router'
import { useLogout } from '../../features/account/session.ts'
import { VendorSwitcher } from '../../features/vendors/vendor-switcher.tsx'
import { useMay } from '../../lib/api/rights.tsx'
import { type ConsolePage, pages } from '../../lib/navigation/pages.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { IconButton } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import { LogoMark } from '../../ui/logo.tsx'
import { toast } from '../../ui/toast.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'

type Entry = ConsolePage & Required<Pick<ConsolePage, 'entry'>>

const entries = pages.filter((page): page is Entry => page.entry !== undefined)
const appNeeded = 'Create an app first to access this section'

const isActive = (path: string, pathname: string) =>
  pathname === path ||
  pathname.startsWith(`${path}/`) ||
  (path === paths.dashboard && pathname === paths.root)

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
  const entriesOf = (group: Entry['entry']['group']) =>
    entries
      .filter(({ entry, call }) => entry.group === group && (call === undefined || may(call)))
      .map((page) => (
        <NavEntry
          key={page.path}
          page={page}
          expanded={expanded}
          disabled={Boolean(page.needsApp) && !hasApps}
        />
      ))
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
        <ul className="grid gap-0.5">{entriesOf('work')}</ul>
        <ul className="mt-auto grid gap-0.5">
          {entriesOf('account')}
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

interface NavEntryProps {
  page: Entry
  expanded: boolean
  disabled: boolean
}

function NavEntry({ page: { label, path, entry }, expanded, disabled }: NavEntryProps) {
  const { pathname } = useLocation()
  const Icon = entry.icon
  const active = isActive(path, pathname)
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
        <Link
          to={path === paths.dashboard ? paths.root : path}
          aria-current={active ? 'page' : undefined}
          className={entryClass(expanded, active)}
        >
          <Icon aria-hidden />
          {name}
        </Link>
      </Hinted>
    </li>
  )
}

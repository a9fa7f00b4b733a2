import {
  Clock,
  ContactRound,
  CreditCard,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  ScrollText,
  Settings,
  ShoppingCart,
  Store,
  TrendingUp,
  UserRound,
  Users,
  UsersRound,
} from 'lucide-react'
import { type Wire, wire } from '../api/wire.ts'
import { base } from './base.ts'
import { paths } from './paths.ts'

export interface ConsolePage {
  path: string
  label: string
  /** The call without which the page has nothing to show. A page without a call is open to everyone. */
  call?: Wire
  /** Its entry in the sidebar, in the upper group or in the lower. */
  entry?: { icon: LucideIcon; group: 'work' | 'account' }
  needsApp?: true
  /** Uses the width of the window up to 1,600 px. */
  isList?: true
  /** The key that opens the page after `g`. */
  key?: string
  /** The dialog that the key `c` opens there. */
  create?: { dialog: string; call: Wire }
}

const work = (icon: LucideIcon) => ({ icon, group: 'work' }) as const
const account = (icon: LucideIcon) => ({ icon, group: 'account' }) as const

/** The pages of the owner's console: the sidebar, the shortcuts, the palette and the rights are made of this list. */
export const pages: readonly ConsolePage[] = [
  {
    path: paths.dashboard,
    label: 'Dashboard',
    call: wire.dashboard.data,
    entry: work(LayoutDashboard),
    key: 'd',
    create: { dialog: 'new-app', call: wire.apps.create },
  },
  {
    path: paths.resellers,
    label: 'Resellers',
    call: wire.resellers.list,
    entry: work(Store),
    needsApp: true,
    isList: true,
    key: 'r',
    create: { dialog: 'create', call: wire.resellers.create },
  },
  {
    path: paths.licenses,
    label: 'Licenses',
    call: wire.licenses.list,
    entry: work(KeyRound),
    needsApp: true,
    isList: true,
    key: 'l',
    create: {
      dialog: 'generate',
      call: wire.licenses.create,
    },
  },
  {
    path: paths.imports,
    label: 'Imports',
    call: wire.imports.list,
    needsApp: true,
    create: {
      dialog: 'new-import',
      call: wire.imports.create,
    },
  },
  {
    path: paths.orders,
    label: 'Orders',
    call: wire.orders.list,
    entry: work(ShoppingCart),
    needsApp: true,
    isList: true,
  },
  {
    path: paths.sales,
    label: 'Sales',
    call: wire.sales.get,
    entry: work(TrendingUp),
    needsApp: true,
  },
  {
    path: paths.users,
    label: 'End Users',
    call: wire.clients.list,
    entry: work(Users),
    needsApp: true,
    isList: true,
    key: 'u',
    create: {
      dialog: 'create',
      call: wire.clients.createDirect,
    },
  },
  {
    path: paths.customers,
    label: 'Customers',
    call: wire.customers.list,
    entry: work(ContactRound),
    isList: true,
    create: {
      dialog: 'create',
      call: wire.customers.create,
    },
  },
  {
    path: paths.activity,
    label: 'Activity',
    call: wire.activity.list,
    entry: work(Clock),
    needsApp: true,
    isList: true,
  },
  {
    path: paths.profile,
    label: 'Profile',
    entry: account(UserRound),
  },
  {
    path: paths.security,
    label: 'Security',
  },
  {
    path: paths.settings,
    label: 'Settings',
    entry: account(Settings),
    key: 's',
  },
  {
    path: paths.apiKeys,
    label: 'API Keys',
    call: wire.apiKeys.list,
    create: { dialog: 'create', call: wire.apiKeys.create },
  },
  {
    path: paths.notifications,
    label: 'Notifications',
    call: wire.notifications.get,
  },
  {
    path: paths.integrations,
    label: 'Integrations',
    call: wire.webhooks.list,
    create: {
      dialog: 'create',
      call: wire.webhooks.create,
    },
  },
  {
    path: paths.members,
    label: 'Members',
    call: wire.members.list,
    entry: account(UsersRound),
    create: {
      dialog: 'invite',
      call: wire.members.invite,
    },
  },
  {
    path: paths.audit,
    label: 'Audit',
    call: wire.audit.list,
    entry: account(ScrollText),
    isList: true,
  },
  {
    path: paths.subscription,
    label: 'Subscription',
    call: wire.plans.subscription,
    entry: account(CreditCard),
  },
]

export const pageAt = (path: string): ConsolePage | undefined => pages.find((page) => page.path === path)

const calls: readonly (readonly [path: string, call: Wire])[] = [
  [`${base}/apps`, wire.apps.get],
  ...pages.flatMap(({ path, call }) => (call ? [[path, call] as const] : [])),
]

/** What the page at a path needs, and the pages below it. */
export const callOfPage = (pathname: string): Wire | undefined =>
  calls.find(([path]) => pathname === path || pathname.startsWith(`${path}/`))?.[1]

/** Whether a person may open the page at a path. */
export function mayVisit(may: (call: Wire) => boolean, path: string): boolean {
  const call = callOfPage(path.replace(/[?#].*$/, ''))
  return call === undefined || may(call)
}

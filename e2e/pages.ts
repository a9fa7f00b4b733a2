import { consolePaths } from '@keyward/contract/console-paths'
import type { Busy } from './busy.ts'
import { isFull } from './repeated.ts'
import { keyPrefix } from './steps.ts'

/** What the addresses of pages name. */
type Items = Pick<Busy, 'app' | 'license' | 'user' | 'customer' | 'webhook'> & {
  reseller: Pick<Busy['reseller'], '_id' | 'email'>
}

/** A page of the console; `name` is the name of its picture. */
export interface ConsolePage {
  name: string
  path: string
  title: string | RegExp
}

export const appTabs = [
  'types',
  'shops',
  'customers',
  'mail',
  'integration',
  'variables',
  'releases',
  'settings',
  'texts',
  'history',
]

/** The overview and the tabs of an app. */
const tabsOf = ({ _id, name }: Busy['app']): ConsolePage[] => [
  { name: 'app', path: `/apps/${_id}`, title: name },
  ...appTabs.map((tab) => ({ name: `app-${tab}`, path: `/apps/${_id}?tab=${tab}`, title: name })),
]

/**
 * Every page of the console that an owner sees: for the size, the layout, the accessibility and the pictures of each, and for
 * what a role sees of it.
 */
export const ownerPages = ({ app, license, user, reseller, customer, webhook }: Items): ConsolePage[] => [
  { name: 'dashboard', path: '/dashboard', title: /^Welcome/ },
  { name: 'licenses', path: '/licenses', title: 'Licenses' },
  { name: 'license', path: `/licenses/${license._id}`, title: keyPrefix(license.key) },
  { name: 'imports', path: '/imports', title: 'Imports' },
  { name: 'orders', path: '/orders', title: 'Orders' },
  { name: 'sales', path: '/sales', title: 'Sales' },
  { name: 'end-users', path: '/users', title: 'End Users' },
  { name: 'end-user', path: `/users/${user._id}`, title: user.username },
  { name: 'customers', path: '/customers', title: 'Customers' },
  { name: 'customer', path: `/customers/${customer._id}`, title: customer.email },
  { name: 'resellers', path: '/resellers', title: 'Resellers' },
  { name: 'reseller', path: `/resellers/${reseller._id}`, title: reseller.email },
  { name: 'activity', path: '/activity', title: 'Activity' },
  { name: 'profile', path: '/profile', title: 'Profile' },
  { name: 'security', path: '/profile/security', title: 'Security' },
  { name: 'members', path: '/members', title: 'Members' },
  { name: 'audit', path: '/audit', title: 'Audit' },
  { name: 'settings', path: '/settings', title: 'Settings' },
  { name: 'api-keys', path: '/settings/api-keys', title: 'API Keys' },
  { name: 'notifications', path: '/settings/notifications', title: 'Notifications' },
  { name: 'integrations', path: '/settings/integrations', title: 'Integrations' },
  { name: 'webhook', path: `/settings/integrations/${webhook._id}`, title: 'hooks.example.com' },
  { name: 'subscription', path: '/subscription', title: 'Subscription' },
  ...tabsOf(app),
]

export const portalPages: ConsolePage[] = [
  { name: 'reseller-dashboard', path: consolePaths.resellerDashboard, title: /./ },
  { name: 'reseller-licenses', path: consolePaths.resellerLicenses, title: /./ },
  { name: 'reseller-profile', path: consolePaths.resellerProfile, title: /./ },
  { name: 'reseller-security', path: consolePaths.resellerSecurity, title: /./ },
]

export const missingPath = '/no-such-page'
export const publicPages: ConsolePage[] = [
  { name: 'landing', path: '/', title: /./ },
  { name: 'about', path: '/about', title: /About/ },
  { name: 'terms', path: '/terms', title: /Terms/ },
  { name: 'privacy', path: '/privacy', title: /Privacy/ },
  { name: 'auth', path: '/auth', title: 'Welcome back' },
  { name: 'sign-up', path: '/auth?tab=sign-up', title: 'Create your account' },
  { name: 'forgot', path: '/auth/forgot', title: /./ },
  { name: 'reseller-auth', path: '/reseller/auth', title: /./ },
  { name: 'not-found', path: missingPath, title: /not found/ },
]

/** Every so many of the pages. */
const every = <T>(pages: readonly T[], parts: number, first: number): T[] =>
  pages.filter((_, index) => index % parts === first)

/** Half of the pages, for tests that run beside each other. */
export const everySecond = <T>(pages: T[], first: number): T[] => every(pages, 2, first)

/** A sixth of them, all in `npm run test:full`. */
export const someOf = <T>(all: readonly T[], first = 0): readonly T[] => (isFull ? all : every(all, 6, first))

import { base } from './base.ts'

const absolute = {
  root: '/',
  landing: '/landing',
  auth: '/auth',
  authForgot: '/auth/forgot',
  authReset: '/auth/reset',
  dashboard: '/dashboard',
  resellers: '/resellers',
  licenses: '/licenses',
  users: '/users',
  profile: '/profile',
  settings: '/settings',
  subscription: '/subscription',
  about: '/about',
  terms: '/terms',
  privacy: '/privacy',
  resellerAuth: '/reseller/auth',
  resellerForgot: '/reseller/auth/forgot',
  resellerReset: '/reseller/auth/reset',
  resellerDashboard: '/reseller/dashboard',
  resellerLicenses: '/reseller/licenses',
  resellerProfile: '/reseller/profile',
  /** Served by the server itself, outside the router: use `<a href>`. */
  docs: '/docs',
} as const

/** Every link of the console, once, under the server's base path. */
export const paths = Object.fromEntries(
  Object.entries(absolute).map(([name, path]) => [name, `${base}${path}`]),
) as unknown as typeof absolute

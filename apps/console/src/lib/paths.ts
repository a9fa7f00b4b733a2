/** Every link of the console, once. */
export const paths = {
  root: '/',
  landing: '/landing',
  auth: '/auth',
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
  resellerDashboard: '/reseller/dashboard',
  resellerLicenses: '/reseller/licenses',
  resellerProfile: '/reseller/profile',
  /** Served by the server itself, outside the router: use `<a href>`. */
  docs: '/docs',
} as const

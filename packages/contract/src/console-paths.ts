/**
 * The console's pages. The server serves the console at these paths and its 404 page at all others. Not exported by the
 * index: importing this file alone keeps the console's first view small.
 */
export const consolePaths = {
  root: '/',
  landing: '/landing',
  auth: '/auth',
  authForgot: '/auth/forgot',
  authReset: '/auth/reset',
  authInvitation: '/auth/invitation',
  dashboard: '/dashboard',
  resellers: '/resellers',
  licenses: '/licenses',
  imports: '/imports',
  orders: '/orders',
  sales: '/sales',
  users: '/users',
  customers: '/customers',
  activity: '/activity',
  profile: '/profile',
  security: '/profile/security',
  members: '/members',
  audit: '/audit',
  settings: '/settings',
  apiKeys: '/settings/api-keys',
  notifications: '/settings/notifications',
  integrations: '/settings/integrations',
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
  resellerSecurity: '/reseller/profile/security',
} as const

/** The page of an app for its customers, which is no part of the console. */
export const customerPagePath = '/u/:appId'

/** The pages of single objects; each is named like its file in the console. */
export const itemPaths = {
  app: '/apps/:id',
  license: '/licenses/:id',
  'end-user': '/users/:id',
  customer: '/customers/:id',
  reseller: '/resellers/:id',
  webhook: '/settings/integrations/:id',
} as const

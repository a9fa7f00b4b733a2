/** Keys of everything the query cache holds. A prefix names all below it: `keys.licenses` is every list of licenses. */
export const keys = {
  owner: ['owner'],
  apps: ['apps'],
  /** What belongs to one app. */
  app: ['app'],
  dashboard: ['dashboard'],
  licenses: ['licenses'],
  clients: ['clients'],
  resellers: ['resellers'],
  settings: ['settings'],
  subscription: ['subscription'],
  /** The state of the own plan; prices and plans are not the owner's. */
  subscriptionStatus: ['subscription', 'status'],
  payments: ['payments'],
  reseller: ['reseller'],
} as const

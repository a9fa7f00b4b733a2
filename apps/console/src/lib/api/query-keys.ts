/** The keys of the query cache. A key includes all keys that start with it: `keys.licenses` is every list of licenses. */
export const keys = {
  owner: ['owner'],
  /** Sessions and second factors of the signed-in person. */
  security: ['security'],
  apps: ['apps'],
  /** Data of a single app. */
  app: ['app'],
  licenseTypes: ['license-types'],
  dashboard: ['dashboard'],
  licenses: ['licenses'],
  clients: ['clients'],
  customers: ['customers'],
  resellers: ['resellers'],
  apiKeys: ['api-keys'],
  webhooks: ['webhooks'],
  shops: ['shops'],
  orders: ['orders'],
  imports: ['imports'],
  members: ['members'],
  /** The vendor accounts of the signed-in person. */
  vendors: ['vendors'],
  settings: ['settings'],
  /** What customers see of the vendor. */
  profile: ['profile'],
  /** Which mails the signed-in person gets. */
  notifications: ['notifications'],
  subscription: ['subscription'],
  /** The state of the owner's plan, without the public plans and prices. */
  subscriptionStatus: ['subscription', 'status'],
  payments: ['payments'],
  /** What programs do. */
  activity: ['activity'],
  audit: ['audit'],
  reseller: ['reseller'],
} as const

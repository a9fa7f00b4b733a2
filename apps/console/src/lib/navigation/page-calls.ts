import { type Wire, wire } from '../api/wire.ts'
import { base } from './base.ts'
import { paths } from './paths.ts'

/** The call without which a page of the console has nothing to show. Pages that are not listed are open to everyone. */
const pageCalls: readonly (readonly [path: string, call: Wire])[] = [
  [paths.dashboard, wire.dashboard.data],
  [`${base}/apps`, wire.apps.get],
  [paths.licenses, wire.licenses.list],
  [paths.imports, wire.imports.list],
  [paths.users, wire.clients.list],
  [paths.orders, wire.orders.list],
  [paths.customers, wire.customers.list],
  [paths.activity, wire.activity.list],
  [paths.resellers, wire.resellers.list],
  [paths.apiKeys, wire.apiKeys.list],
  [paths.notifications, wire.notifications.get],
  [paths.integrations, wire.webhooks.list],
  [paths.members, wire.members.list],
  [paths.audit, wire.audit.list],
  [paths.subscription, wire.plans.subscription],
]

/** What the page at a path needs, and the pages below it. */
export const callOfPage = (pathname: string): Wire | undefined =>
  pageCalls.find(([path]) => pathname === path || pathname.startsWith(`${path}/`))?.[1]

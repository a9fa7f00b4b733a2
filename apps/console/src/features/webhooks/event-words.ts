import { actionLabels } from '@keyward/contract/action-labels'
import {
  type EventName,
  type EventNoun,
  eventFacts,
  eventNames,
  isEventName,
} from '@keyward/contract/event-types'
import type { Permission } from '@keyward/contract/permissions'

const groupLabels = {
  licenses: 'Licenses',
  users: 'End users and devices',
  apps: 'Apps and license types',
  orders: 'Orders of shops',
  resellers: 'Resellers',
  settings: 'Settings',
  webhooks: 'Webhooks',
  members: 'Members',
  plan: 'Plan and payments',
  account: 'Sign-ins and API keys',
} as const

const groupOf: Readonly<Record<EventNoun, keyof typeof groupLabels>> = {
  license: 'licenses',
  licenses: 'licenses',
  import: 'licenses',
  end_user: 'users',
  end_users: 'users',
  device: 'users',
  customer: 'users',
  block: 'users',
  program: 'users',
  app: 'apps',
  license_type: 'apps',
  release: 'apps',
  shop: 'apps',
  shop_order: 'orders',
  reseller: 'resellers',
  settings: 'settings',
  platform: 'settings',
  webhook: 'webhooks',
  member: 'members',
  plan: 'plan',
  order: 'plan',
  payment: 'plan',
  owner: 'account',
  vendor: 'account',
  notifications: 'account',
  api_key: 'account',
  api_keys: 'account',
}

/** A changed address is shown to people who may read members. */
function groupFor(name: EventName) {
  const { noun, permission } = eventFacts(name)
  return permission === 'members:read' ? 'members' : groupOf[noun]
}

/** Groups whose events belong to no app. */
const withoutApp: readonly string[] = ['settings', 'webhooks', 'members', 'plan', 'account']

export interface EventGroup {
  label: string
  events: EventName[]
  /** What reading its events needs. */
  permission: Permission
  hasApp: boolean
}

/** All events, in the groups and the order of the form. */
export const eventGroups: readonly EventGroup[] = Object.entries(groupLabels).map(([group, label]) => {
  const events = eventNames.filter((name) => groupFor(name) === group)
  return {
    label,
    events,
    permission: eventFacts(events[0]!).permission,
    hasApp: !withoutApp.includes(group),
  }
})

/** What people read for an event; the name of one that this console does not know. */
export function eventLabel(name: string): string {
  if (name === 'webhook.test') return 'Test event'
  if (name === 'program.refused') return 'Program refused'
  return isEventName(name) ? actionLabels[name as keyof typeof actionLabels] : name
}

/** 'All events', 'License banned, License unbanned', 'Licenses and 2 more'. */
export function describeEvents(events: readonly string[]): string {
  if (events.includes('*')) return 'All events'
  if (events.length <= 2) return events.map(eventLabel).join(', ')
  const rest = new Set(events)
  const whole = eventGroups.filter((group) => group.events.every((name) => rest.has(name)))
  for (const name of whole.flatMap((group) => group.events)) rest.delete(name as string)
  const named = [...whole.map(({ label }) => label), ...[...rest].map(eventLabel)]
  return named.length <= 2 ? named.join(', ') : `${named[0]} and ${named.length - 1} more`
}

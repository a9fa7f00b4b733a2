import type {
  ActionName,
  Customer,
  ListedClient,
  ListedLicense,
  Reseller,
  ShopOrder,
} from '@keyward/contract'
import { actionLabels } from '@keyward/contract/action-labels'
import { call, hasCode } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { type Wire, wire } from '../../lib/api/wire.ts'
import { endUserName } from '../../lib/format/end-user-name.ts'
import { matchText } from '../../lib/list/match.ts'
import {
  customerPath,
  licensePath,
  listPath,
  paths,
  resellerPath,
  userPath,
} from '../../lib/navigation/paths.ts'
import { type Command, toAppCommand } from './commands.ts'
import { toReference } from './references.ts'

interface Input {
  query: { search: string; limit: number }
  signal: AbortSignal
}

/** A list of the server that the palette searches. */
export interface Source {
  queryKey: readonly unknown[]
  call: Wire
  find: (input: Input) => Promise<Command[]>
  /** Skips this source while the console knows all apps. */
  appsOnly?: boolean
}

const toLicense = ({ _id, key, app, test, usedBy, match }: ListedLicense): Command => ({
  id: _id,
  group: 'Licenses',
  label: key,
  detail: [app.name, test && 'Test', usedBy?.name, matchText(match, 'key', 'username')]
    .filter(Boolean)
    .join(' · '),
  icon: 'license',
  to: licensePath(_id),
})

function toEndUser(user: ListedClient): Command {
  const { _id, username, app, match } = user
  const label = endUserName(user)
  return {
    id: _id,
    group: 'End users',
    label,
    detail: [app.name, label !== username && username, matchText(match, 'username')]
      .filter(Boolean)
      .join(' · '),
    icon: 'user',
    to: userPath(_id),
  }
}

const toCustomer = ({ _id, email, name }: Customer): Command => ({
  id: _id,
  group: 'Customers',
  label: email,
  detail: name ?? undefined,
  icon: 'customer',
  to: customerPath(_id),
})

const toOrder = ({ _id, order, email, shop }: ShopOrder): Command => ({
  id: _id,
  group: 'Orders',
  label: order,
  detail: [email, shop.name].filter(Boolean).join(' · '),
  icon: 'order',
  to: listPath(paths.orders, { search: order, dialog: 'order', id: _id }),
})

const toReseller = ({ _id, email, app_id: app }: Reseller): Command => ({
  id: _id,
  group: 'Resellers',
  label: email,
  detail: app.name,
  icon: 'reseller',
  to: resellerPath(_id),
})

/** The event that a reference names, if the server knows it: two groups of a key look like one. */
async function findEvent({ query, signal }: Input): Promise<Command[]> {
  const reference = toReference(query.search)
  if (!reference) return []
  try {
    const { event, explanation } = await call(wire.activity.explain, { params: { reference }, signal })
    return [
      {
        id: `reference-${reference}`,
        group: 'Activity',
        label: explanation
          ? `Why was ${reference} refused?`
          : `${actionLabels[event.kind as ActionName] ?? 'Event'}: ${reference}`,
        detail: [explanation?.title, event.app?.name].filter(Boolean).join(' · '),
        icon: 'page',
        to: `${paths.activity}?dialog=explain&id=${reference}`,
      },
    ]
  } catch (error) {
    if (hasCode(error, 'not_found')) return []
    throw error
  }
}

export const sources: readonly Source[] = [
  {
    queryKey: keys.apps,
    call: wire.apps.list,
    find: async (input) => (await call(wire.apps.list, input)).apps.map(toAppCommand),
    appsOnly: true,
  },
  {
    queryKey: keys.licenses,
    call: wire.licenses.list,
    find: async (input) => (await call(wire.licenses.list, input)).licenses.map(toLicense),
  },
  {
    queryKey: keys.clients,
    call: wire.clients.list,
    find: async (input) => (await call(wire.clients.list, input)).clients.map(toEndUser),
  },
  {
    queryKey: keys.customers,
    call: wire.customers.list,
    find: async (input) => (await call(wire.customers.list, input)).customers.map(toCustomer),
  },
  {
    queryKey: keys.orders,
    call: wire.orders.list,
    find: async (input) => (await call(wire.orders.list, input)).orders.map(toOrder),
  },
  {
    queryKey: keys.resellers,
    call: wire.resellers.list,
    find: async (input) => (await call(wire.resellers.list, input)).resellers.map(toReseller),
  },
  { queryKey: keys.activity, call: wire.activity.explain, find: findEvent },
]

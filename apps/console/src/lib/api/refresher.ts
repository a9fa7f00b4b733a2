import type { ActionName } from '@keyward/contract'
import type { QueryClient } from '@tanstack/react-query'
import { keys } from './query-keys.ts'

/** How long the event of a write may take: the server sends at most one per second. */
const eventMs = 1500

const { licenses, clients, customers, resellers, dashboard, licenseTypes, app, shops, orders, audit } = keys
const { owner, apps, members, apiKeys, webhooks, subscriptionStatus, payments } = keys
const everything = [
  ...[owner, dashboard, apps, app, licenseTypes, licenses, clients, customers, resellers],
  ...[apiKeys, webhooks, shops, orders, members, audit, subscriptionStatus, payments],
]
const ofLicenses = [licenses, clients, customers, resellers, orders, licenseTypes, dashboard, audit]
const ofEndUsers = [clients, licenses, customers, dashboard, audit]

type Noun = ActionName extends `${infer Name}.${string}` ? Name : never

/** The queries that show a noun of the audit log; a change of any other noun concerns all queries. */
const showing: { [Name in Noun]?: readonly (readonly string[])[] } = {
  license: ofLicenses,
  licenses: ofLicenses,
  license_type: [licenseTypes, licenses, clients, shops, audit],
  import: ofLicenses,
  end_user: ofEndUsers,
  end_users: ofEndUsers,
  device: [clients, audit],
  customer: [customers, licenses, clients, orders, audit],
  reseller: [resellers, licenses, dashboard, audit],
  release: [app, audit],
  block: [app, audit],
  webhook: [webhooks, audit],
  shop: [shops, orders, audit],
  shop_order: [orders, shops, ...ofLicenses],
  api_key: [apiKeys, audit],
  api_keys: [apiKeys, audit],
  notifications: [audit],
}

const keysOf = (nouns: Iterable<string>) =>
  new Set([...nouns].flatMap((noun) => showing[noun as Noun] ?? everything))

/**
 * Refetches the active queries that show what changed, once for each event. Events that arrive while a mutation runs wait
 * for its end; a mutation refetches by itself only if no event follows, as on a dead connection.
 */
export function createRefresher(client: QueryClient, isConnected: () => boolean) {
  const waiting = new Set<string>()
  let alarm: ReturnType<typeof setTimeout> | undefined

  const refresh = () => {
    if (client.isMutating() > 0 || waiting.size === 0) return
    clearTimeout(alarm)
    const stale = keysOf(waiting)
    waiting.clear()
    for (const queryKey of stale) void client.invalidateQueries({ queryKey })
  }
  const noteChange = (nouns: readonly string[]) => {
    for (const noun of nouns) waiting.add(noun)
    refresh()
  }
  const unsubscribe = client.getMutationCache().subscribe((event) => {
    if (event.type !== 'updated' || event.mutation.state.status === 'pending') return
    if (event.mutation.state.status === 'success' && waiting.size === 0) {
      clearTimeout(alarm)
      alarm = setTimeout(() => noteChange(['*']), isConnected() ? eventMs : 0)
    }
    refresh()
  })
  return {
    noteChange,
    stop() {
      clearTimeout(alarm)
      unsubscribe()
    },
  }
}

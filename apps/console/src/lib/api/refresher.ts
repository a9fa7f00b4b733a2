import type { User } from '@keyward/contract'
import type { QueryClient } from '@tanstack/react-query'
import { keys } from './query-keys.ts'

/** How long the event of a write may take: the server sends at most one per second, and may be busy. */
const eventMs = 4000
/** The same for who works on some apps alone, and gets no event of what belongs to none, such as a customer. */
const eventOfSomeMs = 500

const nameOf = ([name]: readonly string[]) => name

/** Queries of these names change by what this person does, or poll. */
const calm = new Set<unknown>(
  [
    ...[keys.activity, keys.imports, keys.notifications, keys.reseller, keys.security, keys.settings],
    ...[keys.subscription, keys.vendors],
  ].map(nameOf),
)
const account = new Set<unknown>([keys.owner, keys.apps].map(nameOf))
const [, status] = keys.subscriptionStatus

/** The nouns of the audit log, or `*` for all, whose change the profile and the apps show, which every page reads. */
const ofAccount = /^(\*|account|app|member|order|owner|payment|plan|platform|settings|vendor)$/

/**
 * Refetches the active queries once for each event, and the profile and the apps only if they changed. An event during a
 * mutation is handled when it ends. A mutation without an event, as on a dead connection, refetches the active queries too.
 */
export function createRefresher(client: QueryClient, isConnected: () => boolean) {
  const waiting = new Set<string>()
  let alarm: ReturnType<typeof setTimeout> | undefined

  const refresh = () => {
    if (client.isMutating() > 0 || waiting.size === 0) return
    clearTimeout(alarm)
    const isOfAccount = [...waiting].some((noun) => ofAccount.test(noun))
    waiting.clear()
    void client.invalidateQueries({
      predicate: ({ queryKey: [name, part] }) =>
        part === status || (!calm.has(name) && (isOfAccount || !account.has(name))),
    })
  }
  const noteChange = (nouns: readonly string[]) => {
    for (const noun of nouns) waiting.add(noun)
    refresh()
  }
  const unsubscribe = client.getMutationCache().subscribe((event) => {
    if (event.type !== 'updated' || event.mutation.state.status === 'pending') return
    // The server may refuse a write because the data has changed. Without a connection no event reports that change.
    if (waiting.size === 0 && (event.mutation.state.status === 'success' || !isConnected())) {
      const seesAll = client.getQueryData<User>(keys.owner)?.allApps ?? true
      clearTimeout(alarm)
      alarm = setTimeout(() => noteChange(['*']), isConnected() ? (seesAll ? eventMs : eventOfSomeMs) : 0)
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

let isConnected = false
let current: ReturnType<typeof createRefresher> | undefined

/** Called when the stream of events has begun and when it has ended. */
export const noteConnection = (isOpen: boolean) => {
  isConnected = isOpen
}
export const noteChange = (nouns: readonly string[]) => current?.noteChange(nouns)

/** Refetches after writes until the returned function is called: with the stream of events, before it, and without. */
export function keepFresh(client: QueryClient): () => void {
  const refresher = createRefresher(client, () => isConnected)
  current = refresher
  return () => {
    refresher.stop()
    if (current === refresher) current = undefined
  }
}

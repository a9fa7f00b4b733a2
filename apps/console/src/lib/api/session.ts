import { useSyncExternalStore } from 'react'
import { createListeners } from '../browser/listeners.ts'
import { readStored, writeStored } from '../browser/stored.ts'
import { base } from '../navigation/base.ts'

export interface Session {
  get(): string | null
  /** Whether the user signed out, so that the sign-in page does not return to the last page. */
  signedOutByUser(): boolean
  set(next: string | null, byUser?: boolean): void
  subscribe(listener: () => void): () => void
}

const otherTabs = createListeners<[session: Session]>()

/** The listener runs after another tab signed in or out. */
export const onSessionChangedElsewhere = otherTabs.subscribe

/** A token in localStorage, synchronized across tabs. */
function createSession(key: string): Session {
  const { subscribe, notify } = createListeners()
  let token = readStored(key)
  let signedOut = false

  window.addEventListener('storage', (event) => {
    if (event.key !== key && event.key !== null) return
    const next = readStored(key)
    if (next === token) return
    // The new token can belong to another account: this session ends first, so that nothing of it stays on the page.
    token = null
    signedOut = false
    notify()
    otherTabs.notify(session)
    token = next
    notify()
  })

  const session: Session = {
    get: () => token,
    signedOutByUser: () => signedOut,
    set(next: string | null, byUser = false) {
      token = next
      signedOut = next === null && byUser
      writeStored(key, next)
      notify()
    },
    subscribe,
  }
  return session
}

// Two servers on one host share its storage, but must not see each other's tokens.
export const ownerSession = createSession(`keyward-owner-token${base}`)
export const resellerSession = createSession(`keyward-reseller-token${base}`)

export function useToken(session: Session): string | null {
  return useSyncExternalStore(session.subscribe, session.get, () => null)
}

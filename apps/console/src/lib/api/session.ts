import { useSyncExternalStore } from 'react'
import { base } from '../navigation/base.ts'

/** A token in localStorage, synchronized across tabs. */
function createSession(key: string) {
  const listeners = new Set<() => void>()
  const notify = () => {
    for (const listener of listeners) listener()
  }
  let token = read()
  let signedOut = false

  function read(): string | null {
    try {
      return localStorage.getItem(key)
    } catch {
      return null
    }
  }

  window.addEventListener('storage', (event) => {
    if (event.key !== key && event.key !== null) return
    token = read()
    notify()
  })

  return {
    get: () => token,
    /** Whether the user signed out, so that the sign-in page does not return to the last page. */
    signedOutByUser: () => signedOut,
    set(next: string | null, byUser = false) {
      token = next
      signedOut = next === null && byUser
      try {
        if (next === null) localStorage.removeItem(key)
        else localStorage.setItem(key, next)
      } catch {}
      notify()
    },
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export type Session = ReturnType<typeof createSession>

// Two servers on one host share its storage, but must not see each other's tokens.
export const ownerSession = createSession(`keyward-owner-token${base}`)
export const resellerSession = createSession(`keyward-reseller-token${base}`)

export function useToken(session: Session): string | null {
  return useSyncExternalStore(session.subscribe, session.get, () => null)
}

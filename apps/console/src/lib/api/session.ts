import { useSyncExternalStore } from 'react'
import { base } from '../navigation/base.ts'

/** A token in localStorage; other tabs follow when it changes. */
function createSession(key: string) {
  const listeners = new Set<() => void>()
  const notify = () => {
    for (const listener of listeners) listener()
  }
  let token = read()
  let left = false

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
    /** Whether the last session ended by signing out, so that there is no page to come back to. */
    leftOnPurpose: () => left,
    set(next: string | null, onPurpose = false) {
      token = next
      left = next === null && onPurpose
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

// Two servers on one host share its storage; neither must see the other's tokens.
export const ownerSession = createSession(`keyward-owner-token${base}`)
export const resellerSession = createSession(`keyward-reseller-token${base}`)

/** The token, or null when signed out. */
export function useToken(session: Session): string | null {
  return useSyncExternalStore(session.subscribe, session.get, () => null)
}

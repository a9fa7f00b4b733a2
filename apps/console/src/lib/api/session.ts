import { useSyncExternalStore } from 'react'
import { createListeners } from '../browser/listeners.ts'
import { readOfTab, readStored, writeOfTab, writeStored } from '../browser/stored.ts'
import { base } from '../navigation/base.ts'

export interface Session {
  get(): string | null
  /** Whether the user signed out, so that the sign-in page does not return to the last page. */
  signedOutByUser(): boolean
  set(next: string | null, byUser?: boolean): void
  /** Replaces the token by another one of the same person in this tab and in new ones. Other tabs keep theirs. */
  switchTo(next: string): void
  subscribe(listener: () => void): () => void
}

const otherTabs = createListeners<[session: Session]>()
const leftTokens = createListeners()

/** The listener runs after another tab signed in or out. */
export const onSessionChangedElsewhere = otherTabs.subscribe

/** The listener runs before this tab forgets a token of its own, because the user signed out in another tab. */
export const onTokenLeft = leftTokens.subscribe

/**
 * A token in localStorage, synchronized across tabs, until one of them switches: from then on, until the next sign-in or
 * sign-out, each tab keeps its own token, in its sessionStorage.
 */
function createSession(key: string): Session {
  const switchedKey = `${key}-switched`
  const haveOwn = () => readStored(switchedKey) !== null
  const { subscribe, notify } = createListeners()
  let token = (haveOwn() ? readOfTab(key) : null) ?? readStored(key)
  let signedOut = false
  /** Other tabs have other tokens. */
  let isSeparate = haveOwn()

  window.addEventListener('storage', (event) => {
    if (event.key !== key && event.key !== null) return
    const next = readStored(key)
    if (next === token) return
    const isRefused = next === null && event.oldValue === token
    if (token !== null && haveOwn() && !isRefused) {
      isSeparate = true
      writeOfTab(key, token)
      return
    }
    if (isSeparate && next === null) leftTokens.notify()
    // The new token can belong to another account: this session ends first, so that nothing of it stays on the page.
    token = null
    signedOut = false
    isSeparate = false
    writeOfTab(key, null)
    notify()
    otherTabs.notify(session)
    token = next
    notify()
  })

  const session: Session = {
    get: () => token,
    signedOutByUser: () => signedOut,
    set(next: string | null, byUser = false) {
      const before = token
      token = next
      signedOut = next === null && byUser
      writeOfTab(key, null)
      isSeparate = false
      const isOwn = next === null && !byUser
      if (!isOwn) writeStored(switchedKey, null)
      // A refused token ends the session of this tab; another tab may have stored its own.
      if (!isOwn || !haveOwn() || readStored(key) === before) writeStored(key, next)
      notify()
    },
    switchTo(next: string) {
      token = next
      isSeparate = true
      writeOfTab(key, null)
      writeStored(switchedKey, 'yes')
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

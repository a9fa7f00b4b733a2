import { useSyncExternalStore } from 'react'
import { createListeners } from '../browser/listeners.ts'
import { ownerSession } from './session.ts'

const { subscribe, notify } = createListeners()
let required = false

function set(next: boolean) {
  if (required === next) return
  required = next
  notify()
}

// Another session can work for a vendor who requires nothing.
ownerSession.subscribe(() => set(false))

/** Notes that the vendor refuses members without a second factor. */
export const noteFactorRequired = () => set(true)

/** Forgets it after a factor was added, and returns whether there was something to forget. */
export function clearFactorRequired(): boolean {
  const was = required
  set(false)
  return was
}

/** Whether the vendor has refused a call for want of a second factor. */
export const useFactorRequired = () => useSyncExternalStore(subscribe, () => required)

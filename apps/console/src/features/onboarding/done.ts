import { useSyncExternalStore } from 'react'

const prefix = 'keyward-onboarding-'
const listeners = new Set<() => void>()

function read(ownerId: string): boolean {
  try {
    return localStorage.getItem(prefix + ownerId) !== null
  } catch {
    return false
  }
}

/** Remembers that this vendor hid or completed the checklist. */
export function finishOnboarding(ownerId: string) {
  try {
    localStorage.setItem(prefix + ownerId, 'done')
  } catch {}
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useOnboardingDone = (ownerId: string) => useSyncExternalStore(subscribe, () => read(ownerId))

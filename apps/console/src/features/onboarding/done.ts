import { useSyncExternalStore } from 'react'
import { createListeners } from '../../lib/browser/listeners.ts'
import { readStored, writeStored } from '../../lib/browser/stored.ts'

const prefix = 'keyward-onboarding-'
const listeners = createListeners()

/** Remembers that this vendor hid or completed the checklist. */
export function finishOnboarding(ownerId: string) {
  writeStored(prefix + ownerId, 'done')
  listeners.notify()
}

export const useOnboardingDone = (ownerId: string) =>
  useSyncExternalStore(listeners.subscribe, () => readStored(prefix + ownerId) !== null)

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

const dismissedPrefix = 'keyward-dismissed-steps-'

/** The ids of the next steps that this vendor does not need. */
export const useDismissedSteps = (ownerId: string): readonly string[] =>
  useSyncExternalStore(listeners.subscribe, () => readStored(dismissedPrefix + ownerId) ?? '').split(' ')

export function dismissStep(ownerId: string, step: string) {
  const key = dismissedPrefix + ownerId
  writeStored(key, `${readStored(key) ?? ''} ${step}`.trim())
  listeners.notify()
}

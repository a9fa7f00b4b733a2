import { useSyncExternalStore } from 'react'
import { createListeners } from './listeners.ts'

const phone = window.matchMedia('(width < 768px)')
const listeners = createListeners()

// Reading `phone.matches` while rendering would suppress the event of a change, see theme.ts.
let isPhone = phone.matches
phone.addEventListener('change', (event) => {
  isPhone = event.matches
  listeners.notify()
})

/** Under 768 px. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(listeners.subscribe, () => isPhone)
}

import { useSyncExternalStore } from 'react'

const phone = window.matchMedia('(width < 768px)')

function subscribe(listener: () => void) {
  phone.addEventListener('change', listener)
  return () => phone.removeEventListener('change', listener)
}

/** Under 768 px. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(subscribe, () => phone.matches)
}

import { useSyncExternalStore } from 'react'

const key = 'keyward-single-keys'
const listeners = new Set<() => void>()
let on = read()

function read(): boolean {
  try {
    return localStorage.getItem(key) !== 'off'
  } catch {
    return true
  }
}

/** Users who dictate or often mistype can turn off single-key shortcuts. */
export const singleKeysOn = () => on

export function setSingleKeys(next: boolean) {
  on = next
  try {
    if (next) localStorage.removeItem(key)
    else localStorage.setItem(key, 'off')
  } catch {}
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useSingleKeys = () => useSyncExternalStore(subscribe, singleKeysOn)

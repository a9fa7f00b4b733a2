import { useSyncExternalStore } from 'react'
import { createListeners } from './listeners.ts'
import { readStored, writeStored } from './stored.ts'

const key = 'keyward-single-keys'
const listeners = createListeners()
let on = readStored(key) !== 'off'

/** Users who dictate or often mistype can turn off single-key shortcuts. */
export const singleKeysOn = () => on

export function setSingleKeys(next: boolean) {
  on = next
  writeStored(key, next ? null : 'off')
  listeners.notify()
}

export const useSingleKeys = () => useSyncExternalStore(listeners.subscribe, singleKeysOn)

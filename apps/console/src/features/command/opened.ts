import { useSyncExternalStore } from 'react'
import { createListeners } from '../../lib/browser/listeners.ts'

export type CommandDialog = 'palette' | 'shortcuts'

let opened: CommandDialog | undefined
const listeners = createListeners()

/** Which of the two is open. A module of its own, because the search button is loaded before them. */
export function setOpened(next: CommandDialog | undefined) {
  opened = next
  listeners.notify()
}

export function useOpened(): CommandDialog | undefined {
  return useSyncExternalStore(listeners.subscribe, () => opened)
}

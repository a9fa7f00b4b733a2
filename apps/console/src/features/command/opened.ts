import { useSyncExternalStore } from 'react'

export type CommandDialog = 'palette' | 'shortcuts'

let opened: CommandDialog | undefined
const listeners = new Set<() => void>()

/** Which of the two is open. A module of its own, because the search button is loaded before them. */
export function setOpened(next: CommandDialog | undefined) {
  opened = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function useOpened(): CommandDialog | undefined {
  return useSyncExternalStore(subscribe, () => opened)
}

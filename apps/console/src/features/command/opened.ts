import { useSyncExternalStore } from 'react'

export type CommandPart = 'palette' | 'shortcuts'

let opened: CommandPart | undefined
const listeners = new Set<() => void>()

/** What is open of the palette and the shortcuts; the button that opens it is there before they are loaded. */
export function setOpened(next: CommandPart | undefined) {
  opened = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function useOpened(): CommandPart | undefined {
  return useSyncExternalStore(subscribe, () => opened)
}

import { type KeyboardEvent, useSyncExternalStore } from 'react'
import { createListeners } from '../../lib/browser/listeners.ts'

/** The state that the search, which is loaded with the page, shares with its results, which are loaded later. */
export interface CommandState {
  opened: 'palette' | 'shortcuts' | 'ticket' | undefined
  /** What is searched for; of a ticket, a customer's whole mail. */
  text: string
  /** Where the results are shown, while the search is open. */
  place: HTMLElement | null
  /** The id of the active result. */
  active: string | undefined
  searching: boolean
  /** Keys of the search field that move among the results. */
  onKeyDown: ((event: KeyboardEvent) => void) | undefined
}

const closed: CommandState = {
  opened: undefined,
  text: '',
  place: null,
  active: undefined,
  searching: false,
  onKeyDown: undefined,
}
let state = closed
const listeners = createListeners()

export function setCommand(change: Partial<CommandState>) {
  state = { ...state, ...change }
  listeners.notify()
}

/** Opens one of them, or closes all. */
export const setOpened = (opened: CommandState['opened'], text = '') => {
  state = { ...closed, opened, text }
  listeners.notify()
}

export const useCommand = (): CommandState => useSyncExternalStore(listeners.subscribe, () => state)

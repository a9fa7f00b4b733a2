import { useSyncExternalStore } from 'react'
import { createListeners } from './listeners.ts'
import { readStored, writeStored } from './stored.ts'

const prefix = 'keyward-snippet-'
const listeners = createListeners()

/** Remembers that the code snippet of this app was copied in this browser. */
export function noteSnippetCopied(appId: string) {
  writeStored(prefix + appId, 'copied')
  listeners.notify()
}

/** Whether the snippet of one of these apps was copied. */
export const useSnippetCopied = (appIds: readonly string[]) =>
  useSyncExternalStore(listeners.subscribe, () => appIds.some((id) => readStored(prefix + id) !== null))

import { useSyncExternalStore } from 'react'
import { createListeners } from '../browser/listeners.ts'
import { isServerReachable } from '../navigation/reload.ts'

const probeMs = 3000

let lost = false
let checking = false
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = createListeners()

/**
 * Whether the server is unreachable. `navigator.onLine` does not say so: a server on this machine is reachable without a
 * network.
 */
export function useConnectionLost(): boolean {
  return useSyncExternalStore(
    listeners.subscribe,
    () => lost,
    () => false,
  )
}

/** Probes the server after a request without a response: one lost request is not a lost connection. */
export function noteNoResponse() {
  void check()
}

export function noteResponse() {
  if (lost) set(false)
}

/** Watches the connection until the returned function is called. Calls `onChange` on each loss and each return. */
export function watchConnection(onChange: (lost: boolean) => void): () => void {
  const notify = () => onChange(lost)
  const unsubscribe = listeners.subscribe(notify)
  for (const event of ['offline', 'online']) window.addEventListener(event, noteNoResponse)
  return () => {
    unsubscribe()
    for (const event of ['offline', 'online']) window.removeEventListener(event, noteNoResponse)
    clearTimeout(timer)
  }
}

function set(next: boolean) {
  clearTimeout(timer)
  if (next) timer = setTimeout(check, probeMs)
  if (lost === next) return
  lost = next
  listeners.notify()
}

async function check() {
  if (checking) return
  checking = true
  const reachable = await isServerReachable()
  checking = false
  set(!reachable)
}

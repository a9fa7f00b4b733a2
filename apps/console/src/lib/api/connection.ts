import { useSyncExternalStore } from 'react'
import { base } from '../navigation/base.ts'

const probeMs = 3000

let lost = false
let checking = false
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

/**
 * Whether the server cannot be reached. `navigator.onLine` does not answer that: a server on this machine is there
 * without any network.
 */
export function useConnectionLost(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => lost,
    () => false,
  )
}

/** Called when a request had no answer: one lost request is no lost connection, so the server is asked first. */
export function noteNoAnswer() {
  void check()
}

export function noteAnswer() {
  if (lost) set(false)
}

/** Looks after the connection until the returned function is called; `onChange` hears of each loss and each return. */
export function watchConnection(onChange: (lost: boolean) => void): () => void {
  const hear = () => onChange(lost)
  const unsubscribe = subscribe(hear)
  for (const event of ['offline', 'online']) window.addEventListener(event, noteNoAnswer)
  return () => {
    unsubscribe()
    for (const event of ['offline', 'online']) window.removeEventListener(event, noteNoAnswer)
    clearTimeout(timer)
  }
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function set(next: boolean) {
  clearTimeout(timer)
  if (next) timer = setTimeout(check, probeMs)
  if (lost === next) return
  lost = next
  for (const listener of listeners) listener()
}

async function check() {
  if (checking) return
  checking = true
  const there = await isServerThere()
  checking = false
  set(!there)
}

export async function isServerThere(): Promise<boolean> {
  const answer = await fetch(`${base}/api/health`, { cache: 'no-store' }).catch(() => undefined)
  return answer?.ok === true
}

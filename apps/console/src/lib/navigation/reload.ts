import { createListeners } from '../browser/listeners.ts'
import { base } from './base.ts'

/** Keeps the router's state of the current history entry for the next document. */
const key = 'keyward-history-state'
const listeners = createListeners()

/** Dialogs that create something. A link opens them, but a reload does not: they may have been used before it. */
const creatingDialogs = ['new-app', 'generate', 'new-import', 'create', 'new-type', 'new-shop']

/** The listener runs before the document unloads and can leave data for the next one in sessionStorage. */
export const onReload = listeners.subscribe

/** Reloads the document and keeps the user's place. */
export function reload() {
  listeners.notify()
  try {
    sessionStorage.setItem(key, JSON.stringify({ href: location.href, state: history.state }))
  } catch {}
  location.reload()
}

export async function isServerReachable(): Promise<boolean> {
  const response = await fetch(`${base}/api/health`, { cache: 'no-store' }).catch(() => undefined)
  return response?.ok === true
}

const missedKey = 'keyward-reloaded'
let attempt: Promise<boolean> | undefined
let wasAway = false

/**
 * A page left open during an update requests files that no longer exist, and browsers cache a file that failed. Reloads
 * the document if the server responds, but not twice in 10 seconds. Resolves to whether it reloads.
 */
export function reloadForMissingFile(): Promise<boolean> {
  attempt ??= reloadOnce().then((reloads) => {
    if (!reloads) attempt = undefined
    return reloads
  })
  return attempt
}

async function reloadOnce(): Promise<boolean> {
  const last = Number(sessionStorage.getItem(missedKey) ?? 0)
  wasAway = !(await isServerReachable())
  if (wasAway || Date.now() - last < 10_000) return false
  sessionStorage.setItem(missedKey, String(Date.now()))
  reload()
  return true
}

const returnMs = 1000

/**
 * Reloads the document once a server that is away is back. Not for a page that fails while the server responds, which
 * would fail again. Stops when the returned function is called.
 */
export function reloadOnReturn(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = new AbortController()
  const check = async () => {
    const isReachable = await isServerReachable()
    if (stop.signal.aborted) return
    if (isReachable && wasAway) return reload()
    wasAway = !isReachable
    timer = setTimeout(check, returnMs)
  }
  void check()
  return () => {
    stop.abort()
    clearTimeout(timer)
  }
}

/** Call before creating the router. Browsers drop the history state when the opener policy of the documents differs. */
export function restoreHistory() {
  if (wasReloadedByUs()) return
  const url = new URL(location.href)
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (navigation?.type !== 'reload' || !creatingDialogs.includes(url.searchParams.get('dialog') ?? '')) return
  url.searchParams.delete('dialog')
  history.replaceState(history.state, '', url)
}

/** Whether `reload` loaded this document. */
function wasReloadedByUs(): boolean {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null')
    sessionStorage.removeItem(key)
    if (kept?.href !== location.href) return false
    if (history.state === null) history.replaceState(kept.state, '')
    return true
  } catch {
    return false
  }
}

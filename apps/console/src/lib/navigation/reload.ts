/** Where the router's own state of an entry of the history waits for the next document. */
const key = 'keyward-history-state'
const listeners = new Set<() => void>()

/** Dialogs that make something new. A link opens them; a reload does not, which comes after they were used as well. */
const making = ['new-app', 'generate', 'import', 'create']

/** Called before the document goes, with time to leave something for the next one in sessionStorage. */
export function onReload(listener: () => void) {
  listeners.add(listener)
}

/** Loads the document anew without losing anything of where the user is. */
export function reload() {
  for (const listener of listeners) listener()
  try {
    sessionStorage.setItem(key, JSON.stringify({ href: location.href, state: history.state }))
  } catch {}
  location.reload()
}

/** To be called before the router is made. Browsers forget the state when two documents differ in their opener policy. */
export function settleHistory() {
  if (wasOurs()) return
  const url = new URL(location.href)
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (navigation?.type !== 'reload' || !making.includes(url.searchParams.get('dialog') ?? '')) return
  url.searchParams.delete('dialog')
  history.replaceState(history.state, '', url)
}

/** Whether `reload` brought this document. */
function wasOurs(): boolean {
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

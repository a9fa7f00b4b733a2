let typed: string | undefined

/** Ctrl K or ⌘ K alone. */
export const isSearchKey = ({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent) =>
  (ctrlKey || metaKey) && !altKey && !shiftKey && key.toLowerCase() === 'k'

/** Until a page is on the screen, keeps what is typed from Ctrl K on: the console is still loading its search. */
function keep(event: KeyboardEvent) {
  if (document.querySelector('main')) return stop()
  if (isSearchKey(event)) typed ??= ''
  else if (typed === undefined || event.ctrlKey || event.metaKey || event.altKey) return
  else if (event.key === 'Escape') typed = undefined
  else if (event.key === 'Backspace') typed = typed.slice(0, -1)
  else if (event.key.length === 1) typed += event.key
  event.preventDefault()
  event.stopImmediatePropagation()
}

const stop = () => window.removeEventListener('keydown', keep, true)

export const keepSearchKeys = () => window.addEventListener('keydown', keep, true)

/** What was typed after Ctrl K while the page was loading; undefined without Ctrl K. Ends keeping it. */
export function takeSearchKeys(): string | undefined {
  stop()
  const kept = typed
  typed = undefined
  return kept
}

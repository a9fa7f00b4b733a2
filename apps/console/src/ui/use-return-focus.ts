import { useRef } from 'react'

/**
 * Returns the focus to the element that opened a dialog. Radix does this only for its own trigger, which dialogs in the
 * URL do not have.
 */
export function useReturnFocus() {
  const opener = useRef<HTMLElement | null>(null)
  return {
    remember() {
      const active = document.activeElement
      const menu = active?.closest('[role="menu"]')
      // The menu no longer exists when the dialog closes, but its button does.
      const origin = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : active
      opener.current = origin instanceof HTMLElement ? origin : null
    },
    restore(event: Event) {
      event.preventDefault()
      if (opener.current) focusWhileThere(opener.current)
    },
  }
}

/** Focuses an element, and the page once the element is removed: a row that was deleted takes its buttons along. */
function focusWhileThere(element: HTMLElement) {
  element.focus()
  const check = () => {
    if (element.isConnected) return
    stop()
    if (document.activeElement === document.body)
      document.getElementById('main')?.focus({ preventScroll: true })
  }
  const observer = new MutationObserver(check)
  const stop = () => {
    observer.disconnect()
    document.removeEventListener('focusin', stop)
  }
  observer.observe(document.body, { childList: true, subtree: true })
  document.addEventListener('focusin', stop)
  check()
}

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
      opener.current?.focus()
    },
  }
}

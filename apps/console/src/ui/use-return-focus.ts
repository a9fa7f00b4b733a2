import { useRef } from 'react'

/**
 * Gives the focus back to what opened a dialog. Radix does so only for its own trigger, which a dialog that
 * lives in the URL has not.
 */
export function useReturnFocus() {
  const opener = useRef<HTMLElement | null>(null)
  return {
    remember() {
      const active = document.activeElement
      const menu = active?.closest('[role="menu"]')
      // A menu is gone when the dialog closes; the button that opened it is not.
      const origin = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : active
      opener.current = origin instanceof HTMLElement ? origin : null
    },
    restore(event: Event) {
      event.preventDefault()
      opener.current?.focus()
    },
  }
}

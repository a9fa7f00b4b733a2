import { useRef } from 'react'

/** The opener of the last dialog, for the one that follows it: that opens when the first one is gone, and nothing has the focus. */
let last: Opener | null = null

/**
 * Returns the focus to the element that opened a dialog. Radix does this only for its own trigger, which dialogs in the
 * URL do not have.
 */
export function useReturnFocus() {
  const opener = useRef<Opener | null>(null)
  return {
    remember() {
      const active = document.activeElement
      const menu = active?.closest('[role="menu"]')
      // The menu no longer exists when the dialog closes, but its button does.
      const origin = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : active
      if (origin !== document.body) last = origin instanceof HTMLElement ? toOpener(origin) : null
      opener.current = last
    },
    restore(event: Event) {
      event.preventDefault()
      if (opener.current) focusWhileThere(opener.current)
    },
  }
}

interface Opener {
  element: HTMLElement
  /** The table that it is in, and its row there. */
  rows: Element | null | undefined
  place: number
}

function toOpener(element: HTMLElement): Opener {
  const row = element.closest('tr')
  const rows = row?.parentElement
  return { element, rows, place: row && rows ? [...rows.children].indexOf(row) : 0 }
}

/** Focuses an element; once it is removed with its row, the row in its place, and without one the page. */
function focusWhileThere({ element, rows, place }: Opener) {
  element.focus()
  const check = () => {
    if (element.isConnected) return
    stop()
    if (document.activeElement !== document.body) return
    const left = rows?.isConnected ? [...rows.querySelectorAll<HTMLElement>('tr[data-row]')] : []
    const next = left[place] ?? left.at(-1) ?? document.getElementById('main')
    next?.focus({ preventScroll: next.id === 'main' })
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

import { singleKeysOn } from '../lib/browser/single-keys.ts'

const rows = '#main tr[data-row]'
const field =
  'input:not([type="checkbox"]), textarea, select, [contenteditable]:not([contenteditable="false"]), [role="combobox"]'
const layer = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]'
const arrows: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}
const letters: Record<string, number> = { j: 1, k: -1 }
let listening = false

/** Moves between the rows of the tables of a page, opens them and selects them with the keyboard. */
export function listenForRowKeys() {
  if (listening) return
  listening = true
  window.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    if (handles(event)) event.preventDefault()
  })
}

function handles({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof Element) || target.closest(field) || document.querySelector(layer)) return false
  const row = target.closest<HTMLElement>(rows)
  const letter = singleKeysOn() ? key : ''
  const step = letters[letter] ?? (row ? arrows[key] : undefined)
  if (step !== undefined) return move(row, step)
  if (!row) return false
  if (letter === 'x' || (key === ' ' && target === row)) return select(row)
  return key === 'Enter' && target === row && open(row)
}

function move(from: HTMLElement | null, step: number): boolean {
  const all = [...(from?.parentElement?.querySelectorAll<HTMLElement>('tr[data-row]') ?? [])]
  const to = from
    ? all[Math.min(Math.max(all.indexOf(from) + step, 0), all.length - 1)]
    : document.querySelector<HTMLElement>(rows)
  to?.focus()
  return to !== undefined && to !== null
}

function select(row: HTMLElement): boolean {
  const box = row.querySelector<HTMLElement>('input[type="checkbox"]')
  box?.click()
  return box !== null
}

/** Follows the row's link, or else opens its menu. */
function open(row: HTMLElement): boolean {
  const target =
    row.querySelector<HTMLElement>('[data-row-open]') ?? lastOf(row.querySelectorAll('td button'))
  if (target?.getAttribute('aria-haspopup') === 'menu') {
    target.focus()
    // The trigger of a menu ignores clicks without a pointer.
    target.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
  } else target?.click()
  return target !== undefined
}

const lastOf = (found: NodeListOf<HTMLElement>): HTMLElement | undefined => [...found].at(-1)

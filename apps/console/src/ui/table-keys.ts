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
const menu = 'button[aria-haspopup="menu"]'
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
  window.addEventListener('contextmenu', (event) => {
    if (opensMenu(event)) event.preventDefault()
  })
}

function handles({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof Element) || target.closest(field) || document.querySelector(layer)) return false
  const row = target.closest<HTMLElement>(rows)
  const letter = singleKeysOn() ? key : ''
  const step = letters[letter] ?? (row ? arrows[key] : undefined)
  if (step !== undefined) return move(row, step)
  if (!row) return false
  if ('eby'.includes(letter || '-')) return choose(row, letter)
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
  if (target?.matches(menu)) openMenu(target)
  else target?.click()
  return target !== undefined
}

function openMenu(button: HTMLElement) {
  button.focus()
  // The trigger of a menu ignores clicks without a pointer.
  button.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
}

/** Opens the menu of a row and takes the item with this letter, if it has one. */
function choose(row: HTMLElement, letter: string): boolean {
  const button = row.querySelector<HTMLElement>(`${menu}[data-letters]`)
  if (!button) return false
  const opened = new MutationObserver(() => {
    const panel = document.querySelector(`[role="menu"][aria-labelledby="${button.id}"]`)
    if (!panel) return
    opened.disconnect()
    panel.querySelector<HTMLElement>(`[data-letter="${letter}"]`)?.click()
  })
  opened.observe(document.body, { childList: true, subtree: true })
  openMenu(button)
  // Another key or click before the menu opens cancels the choice.
  for (const input of ['keydown', 'pointerdown'])
    window.addEventListener(input, () => opened.disconnect(), { capture: true, once: true })
  return true
}

/** The row's menu instead of the browser's, for Shift F10 too. Links, selected text and fingers keep that one. */
function opensMenu(event: MouseEvent): boolean {
  const { target } = event
  if (!(target instanceof Element) || target.closest(`a, ${field}`)) return false
  if ((event instanceof PointerEvent && event.pointerType === 'touch') || !getSelection()?.isCollapsed)
    return false
  const button = target.closest(rows)?.querySelector<HTMLElement>(menu)
  if (button) openMenu(button)
  return button != null
}

const lastOf = (found: NodeListOf<HTMLElement>): HTMLElement | undefined => [...found].at(-1)

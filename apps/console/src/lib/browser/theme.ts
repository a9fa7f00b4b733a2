import { useSyncExternalStore } from 'react'
import { createListeners } from './listeners.ts'
import { readStored, writeStored } from './stored.ts'

export type Theme = 'light' | 'dark' | 'system'

/** public/theme.js reads the same key, to set the theme before the first paint. */
const key = 'keyward-theme'
const osDark = window.matchMedia('(prefers-color-scheme: dark)')
const listeners = createListeners()
let choice = read()
let dark = false

function read(): Theme {
  const stored = readStored(key)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

/**
 * Applies the selected theme, and changes of the OS since the first paint. This alone reads `matches`:
 * Chromium sends no `change` event for a change that a script has already read.
 */
export function applyTheme() {
  dark = choice === 'dark' || (choice === 'system' && osDark.matches)
  document.documentElement.classList.toggle('dark', dark)
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', dark ? '#0b0c0f' : '#fbfbfc')
  listeners.notify()
}

osDark.addEventListener('change', applyTheme)
window.addEventListener('storage', (event) => {
  if (event.key !== key) return
  choice = read()
  applyTheme()
})

export function setTheme(theme: Theme) {
  choice = theme
  writeStored(key, theme)
  applyTheme()
}

/** `theme` is the user's choice, `dark` what is shown. */
export function useTheme(): { theme: Theme; dark: boolean; setTheme: (theme: Theme) => void } {
  const theme = useSyncExternalStore(
    listeners.subscribe,
    () => choice,
    () => 'system' as const,
  )
  const isDark = useSyncExternalStore(
    listeners.subscribe,
    () => dark,
    () => false,
  )
  return { theme, dark: isDark, setTheme }
}

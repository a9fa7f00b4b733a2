import { useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark' | 'system'

/** The same key as in public/theme.js, which sets the theme before the first paint. */
const key = 'keyward-theme'
const osDark = window.matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()
let choice = read()

function read(): Theme {
  try {
    const stored = localStorage.getItem(key)
    return stored === 'light' || stored === 'dark' ? stored : 'system'
  } catch {
    return 'system'
  }
}

function isDark() {
  return choice === 'dark' || (choice === 'system' && osDark.matches)
}

/** Applies the selected theme, and changes of the OS since the first paint. */
export function applyTheme() {
  const dark = isDark()
  document.documentElement.classList.toggle('dark', dark)
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', dark ? '#0b0c0f' : '#fbfbfc')
  for (const listener of listeners) listener()
}

osDark.addEventListener('change', applyTheme)
window.addEventListener('storage', (event) => {
  if (event.key !== key) return
  choice = read()
  applyTheme()
})

export function setTheme(theme: Theme) {
  choice = theme
  try {
    localStorage.setItem(key, theme)
  } catch {}
  applyTheme()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** `theme` is the user's choice, `dark` what is shown. */
export function useTheme(): { theme: Theme; dark: boolean; setTheme: (theme: Theme) => void } {
  const theme = useSyncExternalStore(
    subscribe,
    () => choice,
    () => 'system' as const,
  )
  const dark = useSyncExternalStore(subscribe, isDark, () => false)
  return { theme, dark, setTheme }
}

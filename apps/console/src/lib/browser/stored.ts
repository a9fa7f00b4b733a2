/** A value of localStorage; null when there is none, or when the browser blocks the storage. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** Stores a value in localStorage; null removes it. Does nothing when the browser blocks the storage. */
export function writeStored(key: string, value: string | null) {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {}
}

/** A value of this tab alone, which a reload keeps; null when there is none, or when the browser blocks the storage. */
export function readOfTab(key: string): string | null {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}

/** Stores a value for this tab alone; null removes it. Does nothing when the browser blocks the storage. */
export function writeOfTab(key: string, value: string | null) {
  try {
    if (value === null) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, value)
  } catch {}
}

/** The path of the server's public address, written into every page by the server; empty at the root. */
export const base = globalThis.document?.documentElement.dataset.base ?? ''

/** Redirects a page that was opened outside of the base path, or at the base path without its slash. */
export function enterBase(): boolean {
  const { pathname, search, hash } = window.location
  if (base === '' || pathname.startsWith(`${base}/`)) return true
  if (pathname === base) {
    window.history.replaceState(window.history.state, '', `${base}/${search}${hash}`)
    return true
  }
  window.location.replace(`${base}${pathname}${search}${hash}`)
  return false
}

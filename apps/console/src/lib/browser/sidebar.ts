import { useCallback, useState } from 'react'
import { base } from '../navigation/base.ts'

const name = 'keyward-sidebar'
const weekSeconds = 7 * 24 * 60 * 60

function readCookie(): boolean {
  return !document.cookie.split('; ').includes(`${name}=collapsed`)
}

/** Whether the sidebar is expanded, kept in a cookie for 7 days. */
export function useSidebarExpanded() {
  const [expanded, setExpanded] = useState(readCookie)
  const set = useCallback((next: boolean) => {
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every supported browser
    document.cookie = `${name}=${next ? 'expanded' : 'collapsed'}; path=${base}/; max-age=${weekSeconds}; samesite=lax`
    setExpanded(next)
  }, [])
  return [expanded, set] as const
}

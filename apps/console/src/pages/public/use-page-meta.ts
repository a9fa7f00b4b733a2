import { createContext, useContext, useEffect } from 'react'

const siteName = 'Keyward'

export interface PageMeta {
  title: string
  description: string
}

/** Receives title and description while prerendering. */
export const PageMetaSink = createContext<((meta: PageMeta) => void) | undefined>(undefined)

/** Sets the title, and until unmount the description for search engines and link previews. */
export function usePageMeta(title: string, description: string) {
  const fullTitle = title.includes(siteName) ? title : `${title} · ${siteName}`
  useContext(PageMetaSink)?.({ title: fullTitle, description })
  useEffect(() => {
    document.title = fullTitle
    const restore = [
      setMeta('name', 'description', description),
      setMeta('property', 'og:type', 'website'),
      setMeta('property', 'og:site_name', siteName),
      setMeta('property', 'og:title', fullTitle),
      setMeta('property', 'og:description', description),
      setMeta('property', 'og:url', window.location.origin + window.location.pathname),
    ]
    return () => {
      for (const undo of restore) undo()
    }
  }, [fullTitle, description])
}

function setMeta(attribute: 'name' | 'property', key: string, content: string) {
  const found = document.head.querySelector<HTMLMetaElement>(`meta[${attribute}="${key}"]`)
  if (found) {
    const before = found.content
    found.content = content
    return () => {
      found.content = before
    }
  }
  const made = document.createElement('meta')
  made.setAttribute(attribute, key)
  made.content = content
  document.head.append(made)
  return () => made.remove()
}

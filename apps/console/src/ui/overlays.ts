import { useEffect, useState } from 'react'
import { onFirstGesture } from '../lib/browser/gesture.ts'
import { toast } from './toast.tsx'

type Panels = typeof import('./overlay-panels.tsx')

let panels: Panels | undefined
let loading: Promise<Panels> | undefined

function load() {
  loading ??= import('./overlay-panels.tsx').then(
    (loaded) => {
      panels = loaded
      return loaded
    },
    (error) => {
      loading = undefined
      throw error
    },
  )
  return loading
}

/** Loads what menus, selects, tooltips and questions open: a sixth of a first view, which needs none of it. */
export function preloadOverlays() {
  // Opening one tries again and reports the failure.
  load().catch(() => {})
}

/** The panels while `open`; undefined until they are loaded. */
export function useOverlays(open: boolean, close: () => void): Panels | undefined {
  const [, loaded] = useState(panels)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only opening starts the load
  useEffect(() => {
    if (!open || panels) return
    let current = true
    load().then(
      (all) => current && loaded(all),
      () => {
        if (!current) return
        close()
        toast.error('This could not be opened', { description: 'Check your connection and try again.' })
      },
    )
    return () => {
      current = false
    }
  }, [open])
  return open ? panels : undefined
}

/** Loads the panels when the visitor first touches the page, so that they open immediately, and offline. */
export function useOverlayPreload() {
  useEffect(() => onFirstGesture(preloadOverlays), [])
}

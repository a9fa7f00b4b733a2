import { type RefObject, useEffect, useState } from 'react'
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

/** The panels while `open`; undefined until they are loaded. Who goes on elsewhere before, or presses Escape, wants none any more. */
export function useOverlays(
  open: boolean,
  close: () => void,
  trigger?: RefObject<HTMLElement | null>,
): Panels | undefined {
  const [, loaded] = useState(panels)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only opening starts the load
  useEffect(() => {
    if (!open || panels) return
    const waiting = new AbortController()
    const { signal } = waiting
    load().then(
      (all) => {
        waiting.abort()
        loaded(all)
      },
      () => {
        if (signal.aborted) return
        close()
        toast.error('This could not be opened', { description: 'Check your connection and try again.' })
      },
    )
    const leave = (event: Event) => {
      const isOutside = trigger?.current?.contains(event.target as Node) === false
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : isOutside) close()
    }
    for (const type of ['pointerdown', 'focusin', 'keydown'])
      window.addEventListener(type, leave, { capture: true, signal })
    return () => waiting.abort()
  }, [open])
  return open ? panels : undefined
}

/** Loads the panels when the visitor first touches the page, so that they open immediately, and offline. */
export function useOverlayPreload() {
  useEffect(() => onFirstGesture(preloadOverlays), [])
}

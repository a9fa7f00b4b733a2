import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router'
import type { Wire } from '../../lib/api/wire.ts'
import { singleKeysOn } from '../../lib/browser/single-keys.ts'
import { type ConsolePage, mayVisit, pageAt, pages } from '../../lib/navigation/pages.ts'
import { toast } from '../../ui/toast.tsx'
import { setOpened } from './opened.ts'
import { isTaken } from './taken-keys.ts'

const sequenceMs = 1500

/** Handles shortcuts on every page, except while typing or while a dialog is open. */
export function useShortcuts(hasApps: boolean, may: (...calls: readonly Wire[]) => boolean) {
  const navigate = useNavigate()
  const state = useRef({ navigate, hasApps, may })
  state.current = { navigate, hasApps, may }

  useEffect(() => {
    let wentAt = Number.NEGATIVE_INFINITY

    const goTo = ({ path, needsApp }: ConsolePage) => {
      if (!mayVisit(state.current.may, path)) return
      if (state.current.hasApps || !needsApp) void state.current.navigate(path)
      else toast.info('Create an app first to access this section')
    }
    const single = (key: string): boolean => {
      const isSecond = performance.now() - wentAt < sequenceMs
      const page = isSecond ? pages.find((page) => page.key === key) : undefined
      wentAt = key === 'g' ? performance.now() : Number.NEGATIVE_INFINITY
      if (page) goTo(page)
      else if (key === '?') setOpened('shortcuts')
      else if (key === '/') return focusSearch()
      else if (key === 'c') return create()
      else return false
      return true
    }
    const create = () => {
      // The page may still be loading; its dialog opens once it is loaded.
      const { pathname, search } = window.location
      const creation = pageAt(pathname)?.create
      if (!creation || !state.current.may(creation.call)) return false
      const next = new URLSearchParams(search)
      next.set('dialog', creation.dialog)
      void state.current.navigate(`${pathname}?${next}`)
      return true
    }

    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.altKey || isTaken(event)) return
      if (event.ctrlKey || event.metaKey || event.repeat || !singleKeysOn()) return
      if (single(event.key.toLowerCase())) event.preventDefault()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
}

function focusSearch(): boolean {
  const search = document.querySelector<HTMLInputElement>('#main [role="searchbox"]')
  search?.focus()
  search?.select()
  return search !== null
}

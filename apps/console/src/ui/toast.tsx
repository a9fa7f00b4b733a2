import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import type { ExternalToast } from 'sonner'
import { onFirstGesture } from '../lib/browser/gesture.ts'
import { createListeners } from '../lib/browser/listeners.ts'

type Part = typeof import('./toaster.tsx')
type Kind = 'success' | 'error' | 'info' | 'warning' | 'loading'
type Id = string | number

interface Waiting extends ExternalToast {
  type: Kind
  title: ReactNode
  id: Id
}

let part: Part | undefined
let isLoading = false
let isLost = false
/** Toasts on the screen go through this. */
let shown: Part['sonner'] | undefined
let waiting: readonly Waiting[] = []
let count = 0
const listeners = createListeners()

/** Loads what shows toasts, a twentieth of a first view. */
function load() {
  if (isLoading) return
  isLoading = true
  import('./toaster.tsx')
    .then(
      (loaded) => {
        part = loaded
      },
      () => {
        isLoading = false
        isLost = true
      },
    )
    .then(listeners.notify)
}

function setWaiting(next: readonly Waiting[]) {
  waiting = next
  listeners.notify()
}

/** From now on toasts are shown at once, until their place leaves the screen. */
function flush() {
  shown = part?.sonner
  for (const { type, title, ...options } of waiting) shown?.[type](title, options)
  waiting = []
  return () => {
    shown = undefined
  }
}

const show =
  (type: Kind) =>
  (title: ReactNode, options: ExternalToast = {}): Id => {
    const id = options.id ?? `toast-${count++}`
    if (shown) return shown[type](title, { ...options, id })
    setWaiting([...waiting.filter((one) => one.id !== id), { ...options, type, title, id }])
    load()
    return id
  }

export const toast = {
  success: show('success'),
  error: show('error'),
  info: show('info'),
  warning: show('warning'),
  loading: show('loading'),
  dismiss(id: Id) {
    if (shown) shown.dismiss(id)
    else setWaiting(waiting.filter((one) => one.id !== id))
  },
  getToasts: () => [...(part?.sonner.getToasts() ?? []), ...waiting],
}

/** The place of the toasts. What shows them is loaded when the visitor first touches the page, so that it is there offline. */
export function Toaster() {
  const Loaded = useSyncExternalStore(listeners.subscribe, loaded, loaded)
  const lost = useSyncExternalStore(listeners.subscribe, missed, missed)
  useEffect(() => onFirstGesture(load), [])
  if (Loaded) return <Loaded onReady={flush} />
  return (
    <div className="fixed right-4 bottom-20 left-4 z-50 grid gap-2 md:bottom-6 md:left-auto md:w-89">
      {lost.map((one) => (
        <PlainToast key={one.id} {...one} />
      ))}
    </div>
  )
}

const none: readonly Waiting[] = []
const loaded = () => part?.Toaster
const missed = () => (isLost ? waiting : none)

/** A toast while the part that shows them cannot be loaded. */
function PlainToast({ id, title, description, action, duration = 4500 }: Waiting) {
  useEffect(() => {
    if (!Number.isFinite(duration)) return
    const timer = setTimeout(() => toast.dismiss(id), duration)
    return () => clearTimeout(timer)
  }, [id, duration])
  return (
    <div role="status" className="rounded-lg border bg-raised px-4 py-3 shadow-pop">
      <p className="font-medium">{title}</p>
      <p className="text-fg-muted">{typeof description === 'function' ? description() : description}</p>
      {typeof action === 'object' && action !== null && 'onClick' in action && (
        <button
          type="button"
          className="rounded-sm font-medium text-accent-text"
          onClick={(event) => {
            action.onClick(event)
            toast.dismiss(id)
          }}
        >
          {action.label}
        </button>
      )}
    </div>
  )
}

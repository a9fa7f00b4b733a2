import { onReload } from '../lib/navigation/reload.ts'
import { toast } from './toast.tsx'

const key = 'keyward-toasts'
const kinds = ['success', 'error', 'info', 'warning'] as const

interface KeptToast {
  kind: (typeof kinds)[number]
  title: string
  description?: string
}

/** Keeps the toasts for the next document, although their place has left the screen by then. */
function keepToasts() {
  const kept = toast.getToasts().flatMap((shown): KeptToast[] => {
    if (!('title' in shown) || typeof shown.title !== 'string') return []
    const kind = kinds.find((one) => one === shown.type)
    const description = typeof shown.description === 'string' ? { description: shown.description } : {}
    return kind ? [{ kind, title: shown.title, ...description }] : []
  })
  try {
    if (kept.length > 0) sessionStorage.setItem(key, JSON.stringify(kept))
  } catch {}
}

onReload(keepToasts)

/** Shows the toasts of the previous document. */
export function showKeptToasts() {
  try {
    const kept: KeptToast[] = JSON.parse(sessionStorage.getItem(key) ?? '[]')
    sessionStorage.removeItem(key)
    for (const { kind, title, description } of kept) toast[kind](title, { description })
  } catch {}
}

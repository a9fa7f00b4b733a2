import { type ReactNode, Suspense } from 'react'
import { useUrlState } from '../lib/navigation/url-state.ts'
import { ErrorBoundary } from './error-boundary.tsx'

export interface DeferredProps {
  /** Shown while the part loads, and instead of it if that fails. */
  fallback?: ReactNode
  /** Closes what could not be opened, after a message. Without it a failure shows the fallback. */
  onFail?: () => void
  children: ReactNode
}

/** A part of a page that loads when it is first shown. If that fails, the page stays. */
export function Deferred({ fallback = null, onFail, children }: DeferredProps) {
  return (
    <ErrorBoundary fallback={fallback} onFail={onFail}>
      <Suspense fallback={fallback}>{children}</Suspense>
    </ErrorBoundary>
  )
}

/** The place of the dialogs in the URL. One that cannot be loaded closes. */
export function DialogSlot({ children }: { children: ReactNode }) {
  const [{ dialog }, set] = useUrlState('dialog', 'id')
  return (
    <ErrorBoundary fallback={null} resetKey={dialog} onFail={() => set({ dialog: undefined, id: undefined })}>
      <Suspense fallback={null}>{children}</Suspense>
    </ErrorBoundary>
  )
}

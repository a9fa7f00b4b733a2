import { Component, type ErrorInfo, type ReactNode, useEffect, useState } from 'react'
import { forgetFailedLoads } from '../lib/navigation/lazy.ts'
import { isServerReachable, reload, reloadForMissingFile, reloadOnReturn } from '../lib/navigation/reload.ts'
import { ErrorState } from './states.tsx'
import { toast } from './toast.tsx'

export interface ErrorBoundaryProps {
  /** Retries when this changes: the path of the page. */
  resetKey?: string
  /** Wraps a whole document instead of a page in its frame. */
  whole?: boolean
  /** Shown instead of the error. */
  fallback?: ReactNode
  /** Closes a part that failed, after a message. */
  onFail?: () => void
  children: ReactNode
}

/** Shows an error instead of a part that failed to load or render. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override componentDidCatch(error: Error, info: ErrorInfo) {
    console.error(error, info.componentStack)
    forgetFailedLoads()
    const { onFail } = this.props
    if (onFail) void report(onFail)
  }

  override componentDidUpdate(before: ErrorBoundaryProps) {
    if (this.state.failed && before.resetKey !== this.props.resetKey) this.setState({ failed: false })
  }

  override render() {
    const { fallback, whole, children } = this.props
    if (!this.state.failed) return children
    if (fallback !== undefined) return fallback
    return whole ? (
      <main className="grid min-h-dvh place-items-center">
        <FailedPage />
      </main>
    ) : (
      <FailedPage />
    )
  }
}

/** A reload shows what could not be loaded, if it is in the URL. */
async function report(onFail: () => void) {
  if (await reloadForMissingFile()) return
  toast.error('This could not be opened', { description: 'Check your connection and try again.' })
  onFail()
}

/** Browsers cache a failed module, so retrying needs a reload, and a reload needs the server. */
function FailedPage() {
  const [trying, setTrying] = useState(false)
  useEffect(reloadOnReturn, [])
  async function retry() {
    setTrying(true)
    if (await isServerReachable()) reload()
    else setTrying(false)
  }
  return (
    <ErrorState
      title="Failed to show this page"
      description="Please try again. If it keeps failing, the server may be updating or unreachable."
      onRetry={() => void retry()}
      retrying={trying}
    />
  )
}

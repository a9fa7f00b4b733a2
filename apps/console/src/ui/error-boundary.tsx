import { Component, type ErrorInfo, type ReactNode, useState } from 'react'
import { isServerReachable } from '../lib/api/connection.ts'
import { reload } from '../lib/navigation/reload.ts'
import { ErrorState } from './states.tsx'

export interface ErrorBoundaryProps {
  /** Retries when this changes: the path of the page. */
  resetKey?: string
  /** Wraps a whole document instead of a page in its frame. */
  whole?: boolean
  /** Hides an optional part instead of showing an error. */
  silent?: boolean
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
  }

  override componentDidUpdate(before: ErrorBoundaryProps) {
    if (this.state.failed && before.resetKey !== this.props.resetKey) this.setState({ failed: false })
  }

  override render() {
    if (!this.state.failed) return this.props.children
    if (this.props.silent) return null
    return this.props.whole ? (
      <main className="grid min-h-dvh place-items-center">
        <FailedPage />
      </main>
    ) : (
      <FailedPage />
    )
  }
}

/** Browsers cache a failed module, so retrying needs a reload, and a reload needs the server. */
function FailedPage() {
  const [trying, setTrying] = useState(false)
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

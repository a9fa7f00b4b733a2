import { Component, type ErrorInfo, type ReactNode, useState } from 'react'
import { isServerThere } from '../lib/api/connection.ts'
import { reload } from '../lib/navigation/reload.ts'
import { ErrorState } from './states.tsx'

export interface ErrorBoundaryProps {
  /** A part that failed is tried again when this changes: the address of the page. */
  resetKey?: string
  /** Around a whole document instead of a page in its frame. */
  whole?: boolean
  /** Around what a page can do without: it is left out. */
  silent?: boolean
  children: ReactNode
}

/** A page that failed to load or to render; what is around it stays. */
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

/** Browsers remember a file that failed to load, so only another document gets it; without a server there would be none. */
function FailedPage() {
  const [trying, setTrying] = useState(false)
  async function retry() {
    setTrying(true)
    if (await isServerThere()) reload()
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

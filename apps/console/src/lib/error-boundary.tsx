import { Component, type ErrorInfo, type ReactNode } from 'react'
import { ErrorState } from '../ui/states.tsx'

/** The last net: a page that failed to load or to render. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override componentDidCatch(error: Error, info: ErrorInfo) {
    console.error(error, info.componentStack)
  }

  override render() {
    if (!this.state.failed) return this.props.children
    return (
      <main className="grid min-h-dvh place-items-center">
        <ErrorState
          title="This page could not be shown"
          description="Please try again. If it happens again, the server may have been updated or be out of reach."
          onRetry={() => window.location.reload()}
        />
      </main>
    )
  }
}

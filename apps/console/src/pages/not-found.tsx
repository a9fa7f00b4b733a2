import { Link } from 'react-router'
import { paths } from '../lib/navigation/paths.ts'
import { Button } from '../ui/button.tsx'
import { LogoMark } from '../ui/logo.tsx'
import { useTitle } from '../ui/use-title.ts'

export function NotFoundPage() {
  useTitle('Page not found')
  return (
    <main className="grid min-h-dvh content-center justify-items-center gap-2 px-6 text-center">
      <div className="key-row mb-4">
        <LogoMark className="size-10" />
      </div>
      <p className="font-mono text-fg-muted">404</p>
      <h1 className="font-semibold text-2xl tracking-tight">Oops! Page not found</h1>
      <p className="text-fg-muted">Check the address. The page may have moved.</p>
      <Button asChild variant="primary" className="mt-4">
        <Link to={paths.root}>Return to Home</Link>
      </Button>
    </main>
  )
}

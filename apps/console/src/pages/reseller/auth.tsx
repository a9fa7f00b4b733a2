import { Link, Navigate, useLocation } from 'react-router'
import { PortalSignInForm } from '../../features/portal/sign-in-form.tsx'
import { paths } from '../../lib/paths.ts'
import { resellerSession, useToken } from '../../lib/session.ts'
import { Card } from '../../ui/card.tsx'
import { LogoMark } from '../../ui/logo.tsx'
import { useTitle } from '../../ui/use-title.ts'

export function ResellerAuthPage() {
  const location = useLocation()
  useTitle('Reseller Sign In')

  if (useToken(resellerSession) !== null) {
    const from = (location.state as { from?: string } | null)?.from
    return <Navigate to={from ?? paths.resellerDashboard} replace />
  }

  return (
    <main className="grid min-h-dvh content-start justify-items-center gap-6 px-4 pt-[max(2.5rem,12dvh)] pb-10">
      <header className="grid justify-items-center gap-3 text-center">
        <LogoMark className="size-11" />
        <div className="grid gap-1">
          <h1 className="font-semibold text-2xl tracking-tight">Reseller Portal</h1>
          <p className="text-fg-muted">Sign in to generate and manage your licenses.</p>
        </div>
      </header>
      <Card className="w-full max-w-md p-5 md:p-6">
        <PortalSignInForm />
      </Card>
      <div className="grid max-w-md gap-2 text-center text-fg-muted">
        <p>Need an account, or forgot your password? Please contact your administrator.</p>
        <p>
          Not a reseller?{' '}
          <Link
            to={paths.auth}
            className="rounded-sm font-medium text-accent-text underline-offset-4 hover:underline"
          >
            Go to the main portal
          </Link>
        </p>
      </div>
    </main>
  )
}

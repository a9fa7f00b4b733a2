import { useReseller } from '../../features/portal/session.ts'
import { SecuritySettings } from '../../features/security/security-settings.tsx'
import { resellerHolder } from '../../lib/api/holders.ts'
import { PageHeader } from '../../ui/page-header.tsx'

export function ResellerSecurityPage() {
  const reseller = useReseller().data
  return (
    <div className="grid w-full max-w-3xl gap-6">
      <PageHeader title="Security" subtitle="How you sign in, and where you are signed in." />
      <SecuritySettings holder={resellerHolder} account={reseller?.email ?? ''} />
    </div>
  )
}

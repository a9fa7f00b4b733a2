import { RequireSecondFactor } from '../../features/platform/require-second-factor.tsx'
import { SecuritySettings } from '../../features/security/security-settings.tsx'
import { useOwner } from '../../lib/api/account.ts'
import { ownerHolder } from '../../lib/api/holders.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Breadcrumb } from '../../ui/breadcrumb.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

export function SecurityPage() {
  const owner = useOwner().data
  return (
    <div className="grid w-full max-w-3xl gap-6">
      <Breadcrumb label="Profile" to={paths.profile} />
      <PageHeader title="Security" subtitle="How you sign in, and where you are signed in." />
      <SecuritySettings holder={ownerHolder} account={owner?.email ?? ''} />
      {owner?.role === 'owner' && <RequireSecondFactor />}
    </div>
  )
}

import { useState } from 'react'
import type { Holder } from '../../lib/api/holders.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Deferred } from '../../ui/deferred.tsx'
import { FactorsCard } from './factors-card.tsx'
import { SessionsCard } from './sessions-card.tsx'

const RecoveryCodesDialog = lazyNamed(() => import('./recovery-codes-dialog.tsx'), 'RecoveryCodesDialog')

/** Second factors and sessions of the signed-in account. */
export function SecuritySettings({ holder, account }: { holder: Holder; account: string }) {
  // Held here, so that nothing but their own dialog takes away codes that cannot be shown again.
  const [codes, setCodes] = useState<string[] | null>(null)
  return (
    <>
      <FactorsCard holder={holder} onCodes={setCodes} />
      <SessionsCard holder={holder} />
      {codes && (
        <Deferred>
          <RecoveryCodesDialog codes={codes} account={account} onClose={() => setCodes(null)} />
        </Deferred>
      )}
    </>
  )
}

import type { DataOf, endpoints } from '@keyward/contract'
import { TriangleAlert } from 'lucide-react'
import { amountOf } from '../../lib/format/words.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { CopyButton, CopyField } from '../../ui/copy-button.tsx'
import { DoneFooter } from '../../ui/dialog.tsx'
import { DialogResult } from '../../ui/dialog-result.tsx'
import { Callout } from '../../ui/states.tsx'

export interface ResellerCredentialsProps {
  created: DataOf<typeof endpoints.resellers.create>
  onDone: () => void
}

export function ResellerCredentials({ created, onDone }: ResellerCredentialsProps) {
  const portal = `${window.location.origin}${paths.resellerAuth}`
  const all = `Reseller portal: ${portal}\nEmail: ${created.email}\nPassword: ${created.password}`
  return (
    <>
      <DialogResult>
        <Callout tone="warning" icon={<TriangleAlert aria-hidden />}>
          The password is shown only once. It cannot be seen again.
        </Callout>
        <CopyField label="Email" value={created.email} />
        <CopyField label="Password" value={created.password} />
        <CopyField label="Portal address" value={portal} />
        <p className="text-[0.8125rem] text-fg-muted">
          Can create up to {amountOf(created.allowed_license_keys, 'license')} for {created.app_id.name}.
        </p>
      </DialogResult>
      <DoneFooter onDone={onDone}>
        <CopyButton text={all} label="Copy all credentials">
          Copy all
        </CopyButton>
      </DoneFooter>
    </>
  )
}

import { CalendarPlus, KeyRound } from 'lucide-react'
import { useParams } from 'react-router'
import { Devices } from '../../features/end-users/devices.tsx'
import { LicenseDialog, licenseDialogs } from '../../features/licenses/license-dialogs.tsx'
import { LicenseFacts, LicenseHistory } from '../../features/licenses/license-facts.tsx'
import { LicenseMenu } from '../../features/licenses/license-menu.tsx'
import { useLicense } from '../../features/licenses/queries.ts'
import { statusFacts } from '../../features/licenses/status.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { ItemColumns, ItemPage } from './item-page.tsx'

/** Everything about one license. */
export function LicensePage() {
  const { id = '' } = useParams()
  const query = useLicense(id)
  const dialog = useCallDialog(licenseDialogs)
  return (
    <ItemPage
      query={query}
      list={{ label: 'Licenses', to: paths.licenses }}
      noun="License"
      icon={<KeyRound />}
    >
      {(license) => (
        <>
          <PageHeader
            title={keyPrefix(license.key)}
            tabTitle={`License ${keyPrefix(license.key)}`}
            subtitle={license.note ?? license.app.name}
            badge={
              <Badge tone={statusFacts[license.status].tone} dot>
                {statusFacts[license.status].label}
              </Badge>
            }
            actions={
              <LicenseMenu
                license={license}
                onExtend={() => dialog.open('extend')}
                onEditExpiry={() => dialog.open('edit-expiry')}
                onEdit={() => dialog.open('edit-license')}
                onDelete={() => dialog.open('delete')}
              />
            }
            primary={
              dialog.may('extend') &&
              license.expiresAt !== null && (
                <Button variant="primary" onClick={() => dialog.open('extend')}>
                  <CalendarPlus />
                  Extend License
                </Button>
              )
            }
          />
          <ItemColumns>
            <LicenseFacts license={license} />
            <div className="grid gap-4 md:gap-6">
              <LicenseHistory license={license} />
              {license.usedBy && <Devices user={license.usedBy._id} />}
            </div>
          </ItemColumns>
          <LicenseDialog kind={dialog.kind} license={license} onClose={dialog.close} />
        </>
      )}
    </ItemPage>
  )
}

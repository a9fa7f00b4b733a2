import { Plus, Store } from 'lucide-react'
import { useParams } from 'react-router'
import { useReseller, useSetActive } from '../../features/resellers/queries.ts'
import { ResellerDialog, useResellerDialog } from '../../features/resellers/reseller-dialogs.tsx'
import { ResellerFacts } from '../../features/resellers/reseller-facts.tsx'
import type { ResellerAction } from '../../features/resellers/reseller-menu.tsx'
import { ResellerMenu } from '../../features/resellers/reseller-menu.tsx'
import { ResellerSessions } from '../../features/resellers/reseller-sessions.tsx'
import { useOwner } from '../../lib/api/account.ts'
import { useApps } from '../../lib/api/apps.ts'
import { wire } from '../../lib/api/wire.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { ItemColumns, ItemPage } from './item-page.tsx'
import { ItemTimeline } from './item-timeline.tsx'

const GenerateDialog = lazyNamed(
  () => import('../../features/licenses/generate-dialog.tsx'),
  'GenerateDialog',
)
const generating = { generate: [wire.licenses.create] }

/** Everything about one reseller. */
export function ResellerPage() {
  const { id = '' } = useParams()
  const query = useReseller(id)
  const owner = useOwner().data
  const apps = useApps().data
  const dialog = useResellerDialog()
  const generate = useCallDialog(generating)
  const { mutate: setActive } = useSetActive()

  function act(action: ResellerAction) {
    if (action === 'resume') setActive({ id, active: true })
    else dialog.open(action)
  }

  return (
    <ItemPage
      query={query}
      list={{ label: 'Resellers', to: paths.resellers }}
      noun="Reseller"
      icon={<Store />}
    >
      {({ reseller, sessions }) => {
        const mayGenerate = generate.may('generate') && reseller.active && owner?.plan !== 'free'
        return (
          <>
            <PageHeader
              title={reseller.email}
              subtitle={reseller.app_id.name}
              badge={
                <StateBadge
                  tone={reseller.active ? 'success' : 'warning'}
                  label={reseller.active ? 'Active' : 'Suspended'}
                />
              }
              actions={<ResellerMenu reseller={reseller} onAction={act} />}
              primary={
                mayGenerate && (
                  <Button
                    variant="primary"
                    disabled={reseller.remaining_licenses === 0}
                    title={reseller.remaining_licenses === 0 ? 'The quota is used up' : undefined}
                    onClick={() => generate.open('generate')}
                  >
                    <Plus />
                    Generate Keys
                  </Button>
                )
              }
            />
            <ItemColumns>
              <ResellerFacts reseller={reseller} />
              <div className="grid gap-4 md:gap-6">
                <ResellerSessions sessions={sessions} onEnd={() => dialog.open('end-sessions')} />
                <ItemTimeline changes={{ about: id }} />
              </div>
            </ItemColumns>
            <ResellerDialog kind={dialog.kind} reseller={reseller} onClose={dialog.close} />
            <DialogSlot>
              {generate.kind === 'generate' && mayGenerate && apps && (
                <GenerateDialog
                  onClose={generate.close}
                  apps={apps}
                  appId={reseller.app_id._id}
                  reseller={reseller}
                />
              )}
            </DialogSlot>
          </>
        )
      }}
    </ItemPage>
  )
}

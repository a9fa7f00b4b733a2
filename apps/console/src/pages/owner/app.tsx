import { Box, Plus } from 'lucide-react'
import { Link, useParams } from 'react-router'
import { AppDialogs, useAppDialog } from '../../features/apps/app-dialogs.tsx'
import { AppFacts, AppFigures } from '../../features/apps/app-facts.tsx'
import { AppMenu } from '../../features/apps/app-menu.tsx'
import { useApp } from '../../features/apps/queries.ts'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ItemColumns, ItemPage } from './item-page.tsx'

const AppSections = lazyNamed(() => import('../../features/apps/app-sections.tsx'), 'AppSections')
const LicenseTypesSection = lazyNamed(
  () => import('../../features/apps/license-types-section.tsx'),
  'LicenseTypesSection',
)
const OfflineActivations = lazyNamed(
  () => import('../../features/offline-activations/offline-activations.tsx'),
  'OfflineActivations',
)
const Integration = lazyNamed(() => import('../../features/apps/integration.tsx'), 'Integration')

/** Everything about one app. */
export function AppPage() {
  const { id = '' } = useParams()
  const query = useApp(id)
  const dialog = useAppDialog()
  return (
    <ItemPage query={query} list={{ label: 'Dashboard', to: paths.dashboard }} noun="App" icon={<Box />}>
      {(app) => (
        <>
          <PageHeader
            title={app.name}
            badge={
              <>
                <Badge>v{app.version}</Badge>
                {app.paused && (
                  <Badge tone="warning" dot>
                    Paused
                  </Badge>
                )}
              </>
            }
            actions={<AppMenu app={app} />}
            primary={
              <May call={wire.licenses.create}>
                <Button asChild variant="primary">
                  <Link to={`${paths.licenses}?${new URLSearchParams({ app: app._id, dialog: 'generate' })}`}>
                    <Plus />
                    Generate License
                  </Link>
                </Button>
              </May>
            }
          />
          <AppFigures app={app} />
          <ItemColumns>
            <div className="grid gap-4 md:gap-6">
              <Card>
                <CardHeader
                  title="Integration"
                  description="Paste this into your program, so that it runs only with a valid license."
                />
                <CardBody className="grid gap-4">
                  <Deferred fallback={<Skeleton className="h-96" />}>
                    <Integration app={app} onSigningKeys={() => dialog.open('signing-keys', app._id)} />
                  </Deferred>
                </CardBody>
              </Card>
              <Deferred fallback={<Skeleton className="h-40 rounded-xl" />}>
                <OfflineActivations app={app} />
              </Deferred>
            </div>
            <div className="grid gap-4 max-lg:order-first md:gap-6">
              <AppFacts app={app} />
              <Deferred fallback={<Skeleton className="h-64 rounded-xl" />}>
                <LicenseTypesSection app={app} />
              </Deferred>
              <Deferred fallback={<Skeleton className="h-64 rounded-xl" />}>
                <AppSections app={app} />
              </Deferred>
            </div>
          </ItemColumns>
          <AppDialogs canCreate={false} />
        </>
      )}
    </ItemPage>
  )
}

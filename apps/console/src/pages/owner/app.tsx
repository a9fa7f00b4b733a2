import type { App } from '@keyward/contract'
import { Box, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link, Navigate, useParams } from 'react-router'
import { AppDialogs } from '../../features/apps/app-dialogs.tsx'
import { AppMenu } from '../../features/apps/app-menu.tsx'
import { useApp } from '../../features/apps/queries.ts'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useUnsavedForms } from '../../lib/form/unsaved.ts'
import { type AppTabName, appTabPath, useAppTabs } from '../../lib/navigation/app-tabs.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { useUrlState } from '../../lib/navigation/url-state.ts'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ItemPage } from './item-page.tsx'

const Overview = lazyNamed(() => import('./app-overview.tsx'), 'AppOverview')
const Types = lazyNamed(() => import('../../features/apps/types/license-types-tab.tsx'), 'LicenseTypesTab')
const Shops = lazyNamed(() => import('../../features/shops/shops-tab.tsx'), 'ShopsTab')
const Releases = lazyNamed(() => import('../../features/releases/releases-tab.tsx'), 'ReleasesTab')
const Variables = lazyNamed(() => import('../../features/apps/variables/variables-tab.tsx'), 'VariablesTab')
const Texts = lazyNamed(() => import('../../features/apps/texts/error-messages.tsx'), 'ErrorMessagesTab')
const Customers = lazyNamed(() => import('../../features/apps/customers/customers-tab.tsx'), 'CustomersTab')
const Mail = lazyNamed(() => import('../../features/apps/mails/buyer-mail.tsx'), 'BuyerMailTab')
const Settings = lazyNamed(() => import('../../features/apps/settings/settings-tab.tsx'), 'SettingsTab')
const OfflineActivations = lazyNamed(
  () => import('../../features/offline-activations/offline-activations.tsx'),
  'OfflineActivations',
)
const History = lazyNamed(() => import('./item-timeline.tsx'), 'ItemTimeline')
const Integration = lazyNamed(
  () => import('../../features/apps/integration/integration-tab.tsx'),
  'IntegrationTab',
)

const Compatibility = lazyNamed(
  () => import('../../features/compatibility/compatibility-section.tsx'),
  'CompatibilitySection',
)
const LazyMove = lazyNamed(() => import('../../features/lazy-move/lazy-move-section.tsx'), 'LazyMoveSection')

const contents: Record<AppTabName, (app: App) => ReactNode> = {
  overview: (app) => <Overview app={app} />,
  types: (app) => <Types app={app} />,
  shops: (app) => <Shops app={app} />,
  releases: (app) => <Releases app={app} />,
  variables: (app) => <Variables app={app} />,
  texts: (app) => <Texts app={app} />,
  customers: (app) => <Customers app={app} />,
  mail: (app) => <Mail app={app} />,
  settings: (app) => (
    <div className="grid grid-cols-1 gap-4 md:gap-6">
      <Settings app={app} />
      <OfflineActivations app={app} />
    </div>
  ),
  integration: (app) => (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 md:gap-6">
      <Integration app={app} />
      <May call={wire.compatibility.get}>
        <Compatibility app={app} />
      </May>
      <May call={wire.lazyMove.get}>
        <LazyMove app={app} />
      </May>
    </div>
  ),
  history: (app) => (
    <History changes={{ about: app._id }} all={listPath(paths.audit, { app: app._id, actor: 'all' })} />
  ),
}

/** Everything about one app. */
export function AppPage() {
  const { id = '' } = useParams()
  const query = useApp(id)
  const tabs = useAppTabs()
  const mayGenerate = useMay()(wire.licenses.create)
  const [url] = useUrlState('tab')
  // The name from before.
  const wanted = url.tab === 'security' ? 'settings' : url.tab
  const shown = tabs.find(({ value }) => value === wanted)?.value ?? 'overview'
  return (
    <ItemPage query={query} list={{ label: 'Dashboard', to: paths.dashboard }} noun="App" icon={<Box />}>
      {(app) => (
        <>
          <PageHeader
            title={app.name}
            badge={
              <>
                <Badge>v{app.version}</Badge>
                {app.paused && <StateBadge tone="warning" label="Paused" />}
              </>
            }
            actions={<AppMenu app={app} onPage />}
            primary={
              // On phones it would cover the buttons that save a tab.
              shown === 'overview' &&
              mayGenerate && (
                <Button asChild variant="primary">
                  <Link to={`${paths.licenses}?${new URLSearchParams({ app: app._id, dialog: 'generate' })}`}>
                    <Plus />
                    Generate License
                  </Link>
                </Button>
              )
            }
          />
          <AppTabs key={app._id} app={app} tabs={tabs} shown={shown} />
          <AppDialogs canCreate={false} />
        </>
      )}
    </ItemPage>
  )
}

function AppTabs({ app, tabs, shown }: { app: App; tabs: ReturnType<typeof useAppTabs>; shown: AppTabName }) {
  const [{ dialog, id }, set] = useUrlState('tab', 'dialog', 'id', 'kind', 'language')
  const unsaved = useUnsavedForms().map(({ to }) => to)
  const isUnsaved = (value: AppTabName) =>
    unsaved.some((to) => `${to}&`.startsWith(`${appTabPath(app._id, value)}&`))
  // The dialogs of machines that are never online are part of their list.
  if (dialog?.endsWith('-offline') && shown !== 'settings') {
    const query = new URLSearchParams({ tab: 'settings', dialog, ...(id && { id }) })
    return <Navigate to={`?${query}`} replace />
  }
  const marked = (label: string, values: AppTabName[]) => {
    if (!values.some(isUnsaved)) return label
    return (
      <>
        {label}
        <span aria-hidden className="ml-1.5 inline-block size-1.5 rounded-full bg-accent align-middle" />
        <span className="sr-only"> (unsaved changes)</span>
      </>
    )
  }
  const contentOf = (value: AppTabName) => (
    <Deferred fallback={<Skeleton className="h-dvh rounded-xl" />}>{contents[value](app)}</Deferred>
  )
  const show = (value: AppTabName) =>
    set({ tab: value === 'overview' ? undefined : value, kind: undefined, language: undefined })
  return (
    <Tabs
      label={`Tabs of ${app.name}`}
      variant="page"
      value={tabs.find(({ value }) => value === shown)?.tab ?? ''}
      onChange={(next) => show(tabs.find(({ tab }) => tab === next)?.value ?? 'overview')}
      className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4 md:gap-6"
      tabs={[...new Set(tabs.map(({ tab }) => tab))].map((name) => {
        const parts = tabs.filter(({ tab }) => tab === name)
        const values = parts.map(({ value }) => value)
        return {
          value: name,
          label: marked(name, values),
          content:
            values.length === 1 && values[0] ? (
              contentOf(values[0])
            ) : (
              <Tabs
                label={`${name} of ${app.name}`}
                variant="parts"
                value={shown}
                onChange={(next) => show(next as AppTabName)}
                className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4"
                tabs={parts.map(({ value, label }) => ({
                  value,
                  label: marked(label, [value]),
                  content: contentOf(value),
                }))}
              />
            ),
        }
      })}
    />
  )
}

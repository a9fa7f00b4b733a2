import type { App } from '@keyward/contract'
import { AppFacts, AppFigures } from '../../features/apps/app-facts.tsx'
import { useAppStats } from '../../features/apps/queries.ts'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Deferred } from '../../ui/deferred.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ItemColumns } from './item-page.tsx'

const ActivityChart = lazyNamed(() => import('../../features/stats/activity-chart.tsx'), 'ActivityChart')
const IntegrationTab = lazyNamed(
  () => import('../../features/apps/integration/integration-tab.tsx'),
  'IntegrationTab',
)

/** The facts of an app and what its programs do; until one has reported, what a program needs. */
export function AppOverview({ app }: { app: App }) {
  const stats = useAppStats(app._id)
  const reported = app.sdklessInitAt !== null || (stats.data?.sdks.length ?? 0) > 0
  const wait = <Skeleton className="h-dvh rounded-xl" />
  return (
    <div className="grid gap-4 md:gap-6">
      <AppFigures app={app} />
      <ItemColumns>
        {stats.isPending ? (
          wait
        ) : (
          <div className="grid gap-4 md:gap-6">
            {reported ? (
              <May call={wire.dashboard.activity}>
                <Deferred fallback={<Skeleton className="h-80 rounded-xl" />}>
                  <ActivityChart app={app._id} online={stats.data?.stats.onlineClients ?? 0} />
                </Deferred>
              </May>
            ) : (
              <Deferred fallback={wait}>
                <IntegrationTab app={app} />
              </Deferred>
            )}
          </div>
        )}
        <div className="grid content-start gap-4 max-lg:order-first md:gap-6">
          <AppFacts app={app} />
        </div>
      </ItemColumns>
    </div>
  )
}

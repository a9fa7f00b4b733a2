import { ExternalLink, Plus, Sparkles, Store } from 'lucide-react'
import { statusFacts, useResellers, useSetActive } from '../../features/resellers/queries.ts'
import { resellerColumns } from '../../features/resellers/reseller-columns.tsx'
import { ResellerDialogs, useResellerDialog } from '../../features/resellers/reseller-dialogs.tsx'
import { ResellerExplainer } from '../../features/resellers/reseller-explainer.tsx'
import { ResellerMenu } from '../../features/resellers/reseller-menu.tsx'
import { ResellerStats } from '../../features/resellers/reseller-stats.tsx'
import { summarize } from '../../features/resellers/summary.ts'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Callout } from '../../ui/states.tsx'
import { OwnerList, OwnerPage, useOwnerList } from './owner-list.tsx'

export function ResellersPage() {
  const list = useOwnerList('resellers', statusFacts)
  const { owner, apps, app, hasApps, filters } = list
  const setActive = useSetActive()
  const dialog = useResellerDialog()
  const resellers = useResellers(
    { ...filters, page: list.page, limit: list.size.limit },
    hasApps && !list.resolving,
  )
  const data = list.resolving ? undefined : resellers.data

  const { open } = dialog
  const may = useMay()
  const free = owner?.plan === 'free'
  return (
    <>
      <OwnerPage
        list={list}
        title="Resellers"
        subtitle="Manage your reseller network and its license limits."
        noApps={{
          icon: <Store />,
          reason: 'A reseller belongs to an app.',
          action: 'Create App First',
        }}
        actions={<PortalLink />}
        primary={
          dialog.may('create') && (
            <Button variant="primary" onClick={() => open('create')} disabled={!hasApps}>
              <Plus />
              Add Reseller
            </Button>
          )
        }
      >
        {free && may(wire.plans.subscription) && (
          <Callout
            tone="warning"
            className={data ? 'max-md:order-last' : 'max-md:hidden'}
            icon={<Sparkles aria-hidden />}
            title="Resellers require the premium plan"
            action={<UpgradeLink />}
          >
            On the free plan you cannot create resellers, and existing resellers cannot generate licenses.
          </Callout>
        )}
        <ResellerStats summary={data && summarize(data.stats)} loading={list.isLoading(resellers)} />
        <OwnerList
          list={list}
          title="Directory"
          noun="resellers"
          icon={<Store />}
          search={{ label: 'Search resellers', placeholder: 'Search by email' }}
          anyStatus="Any status"
          selects={2}
          hasNoRows={data?.stats.total === 0}
          query={resellers}
          page={data}
          rows={data?.resellers}
          failure="Failed to load resellers"
          failureHint="Please try refreshing the page"
          caption="Resellers, newest first"
          columns={resellerColumns}
          rowMenu={(reseller) => (
            <ResellerMenu
              reseller={reseller}
              onAction={(action) =>
                action === 'resume'
                  ? setActive.mutate({ id: reseller._id, active: true })
                  : open(action, reseller._id)
              }
            />
          )}
          empty={{
            title: 'No resellers yet',
            description:
              free && may(wire.plans.subscription)
                ? 'Resellers are only available for premium subscribers.'
                : 'Create an account for a partner who sells licenses for your app, within the limit you set.',
            actions: free ? (
              <May call={wire.payments.createOrder}>
                <Button asChild variant="primary">
                  <a href={paths.subscription}>Upgrade to Create Resellers</a>
                </Button>
              </May>
            ) : (
              <May call={wire.resellers.create}>
                <Button variant="primary" onClick={() => open('create')}>
                  <Plus />
                  Create First Reseller
                </Button>
              </May>
            ),
          }}
        />
        {data && <ResellerExplainer account={owner?._id} done={data.stats.total > 0} />}
      </OwnerPage>
      {owner && apps.isSuccess && (
        <ResellerDialogs
          available={!free}
          apps={apps.data}
          appId={app?._id}
          resellers={data?.resellers ?? []}
        />
      )}
    </>
  )
}

function PortalLink() {
  return (
    <Button asChild>
      <a href={paths.resellerAuth} target="_blank" rel="noreferrer">
        <ExternalLink aria-hidden />
        Reseller Portal
        <span className="sr-only"> (opens in a new tab)</span>
      </a>
    </Button>
  )
}

/** Loads the document, because that page has another Content-Security-Policy. */
function UpgradeLink() {
  return (
    <May call={wire.payments.createOrder}>
      <Button asChild>
        <a href={paths.subscription}>Upgrade to Premium</a>
      </Button>
    </May>
  )
}

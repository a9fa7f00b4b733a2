import { RefreshCw, ShieldCheck } from 'lucide-react'
import { CurrentPlan } from '../../features/subscription/current-plan.tsx'
import {
  usePlans,
  usePricing,
  useRefreshPlans,
  useSubscription,
} from '../../features/subscription/queries.ts'
import { UpgradeCard } from '../../features/subscription/upgrade-card.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Callout, ErrorState } from '../../ui/states.tsx'

export function SubscriptionPage() {
  const subscription = useSubscription()
  const plans = usePlans()
  const pricing = usePricing()
  const refresh = useRefreshPlans()

  const status = subscription.data
  const plan = plans.data?.find(({ _id }) => _id === status?.plan)
  const premium = plans.data?.find(({ name }) => name === 'Premium')
  const failed = (subscription.isError && !status) || (plans.isError && !plans.data)
  return (
    <div className="mx-auto grid w-full max-w-5xl gap-6">
      <PageHeader
        title="Subscription"
        subtitle="Your plan, what it includes, and what premium costs."
        actions={
          <Button onClick={() => refresh.mutate()} loading={refresh.isPending}>
            {!refresh.isPending && <RefreshCw />}
            Refresh plans
          </Button>
        }
      />
      {failed ? (
        <Card>
          <ErrorState
            title="Failed to fetch subscription status"
            description={(subscription.error ?? plans.error)?.message}
            onRetry={() => {
              void subscription.refetch()
              void plans.refetch()
            }}
            retrying={subscription.isFetching || plans.isFetching}
          />
        </Card>
      ) : (
        <div className="grid items-start gap-4 lg:grid-cols-[2fr_3fr]">
          {status && plan ? (
            <CurrentPlan subscription={status} plan={plan} />
          ) : (
            <Skeleton className="h-96 rounded-xl" />
          )}
          {status && premium && !pricing.isPending ? (
            <UpgradeCard
              premium={premium}
              pricing={pricing.data}
              active={status.hasActiveSubscription}
              expiryDate={status.expiryDate}
            />
          ) : (
            <Skeleton className="h-96 rounded-xl" />
          )}
        </div>
      )}
      <Callout icon={<ShieldCheck aria-hidden />} title="Seven-day money-back guarantee">
        If premium is not for you, ask within seven days of your payment and you get all of it back.
      </Callout>
    </div>
  )
}

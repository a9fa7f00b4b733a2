import { type User, unlimited } from '@keyward/contract'
import { Box, Crown, ShoppingCart, Sparkles } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Link } from 'react-router'
import { AppDialogs } from '../../features/apps/app-dialogs.tsx'
import { AppList } from '../../features/apps/app-list.tsx'
import { useAppCount } from '../../features/apps/queries.ts'
import { useOnboardingDone } from '../../features/onboarding/done.ts'
import { NeedsAttention } from '../../features/stats/needs-attention.tsx'
import { StatCards } from '../../features/stats/stat-cards.tsx'
import { OwnServerNote } from '../../features/subscription/own-server-note.tsx'
import { useOwner } from '../../lib/api/account.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { serverNow } from '../../lib/api/server-time.ts'
import { wire } from '../../lib/api/wire.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import { Deferred, DialogSlot } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { StatCard } from '../../ui/stat-card.tsx'
import { Callout } from '../../ui/states.tsx'

const Onboarding = lazyNamed(() => import('./onboarding.tsx'), 'Onboarding')
const ActivityChart = lazyNamed(() => import('../../features/stats/activity-chart.tsx'), 'ActivityChart')
const NewSaleDialog = lazyNamed(() => import('../../features/licenses/new-sale-dialog.tsx'), 'NewSaleDialog')
const dayMs = 86_400_000
const dialogs = { 'new-sale': [wire.licenses.create] }

export function DashboardPage() {
  const owner = useOwner().data
  const may = useMay()
  const dialog = useCallDialog(dialogs)
  const onboarded = useOnboardingDone(owner?.vendor._id ?? '')
  const appCount = useAppCount()
  const count = appCount ?? owner?.appCount ?? 0
  const empty = count === 0
  // Keep the wrapper while the page is open: removing it after the first activation would remount the page.
  const [onboarding, setOnboarding] = useState(!onboarded)
  if (empty && !onboarding) setOnboarding(true)
  if (!owner) return null

  const isNew = serverNow() - Date.parse(owner.createdAt) < dayMs
  const full = owner.maxApps !== unlimited && count >= owner.maxApps
  const knowsPlan = may(wire.plans.subscription)
  const upgrade = owner.plan !== 'premium' && may(wire.payments.createOrder) && (
    <Upgrade owner={owner} count={count} prominent={full} />
  )
  const content = (
    <>
      {!empty && <NeedsAttention />}
      {!empty && <StatCards />}
      <div className={cx('grid items-start gap-6', knowsPlan && 'xl:grid-cols-[minmax(0,1fr)_20rem]')}>
        <div className="grid gap-6">
          <AppList owner={owner} quiet={empty || !onboarded} />
          {!empty && (
            <Deferred fallback={<Skeleton className="h-80 rounded-xl" />}>
              <ActivityChart />
            </Deferred>
          )}
        </div>
        {knowsPlan && (
          <div className="grid gap-4">
            <Plan owner={owner} count={count} />
            {!full && upgrade}
          </div>
        )}
      </div>
    </>
  )
  return (
    <div className="grid gap-6">
      <PageHeader
        title={`${isNew ? 'Welcome' : 'Welcome back'}, ${owner.name}`}
        tabTitle="Dashboard"
        subtitle={
          empty && may(wire.apps.create)
            ? 'Set up your first app, and see who runs your program.'
            : 'Your applications and their licenses at a glance.'
        }
        primary={
          !empty &&
          dialog.may('new-sale') && (
            <Button variant="primary" onClick={() => dialog.open('new-sale')}>
              <ShoppingCart />
              New Sale
            </Button>
          )
        }
      />
      {full && upgrade}
      {onboarding ? (
        <Suspense fallback={<Skeleton className="h-dvh rounded-xl" />}>
          <Onboarding owner={owner} empty={empty}>
            {content}
          </Onboarding>
        </Suspense>
      ) : (
        content
      )}
      <AppDialogs canCreate={!full} />
      <DialogSlot>{dialog.kind === 'new-sale' && <NewSaleDialog onClose={dialog.close} />}</DialogSlot>
    </div>
  )
}

function Plan({ owner, count }: { owner: User; count: number }) {
  const premium = owner.plan === 'premium'
  return (
    <section aria-label="Plan" className="grid grid-cols-2 gap-3 md:gap-4 xl:grid-cols-1">
      <StatCard
        label="Total Apps"
        icon={<Box aria-hidden />}
        value={count}
        detail={`of ${owner.maxApps === unlimited ? '∞' : owner.maxApps}`}
      />
      <StatCard
        label="Plan"
        icon={<Crown aria-hidden />}
        value={premium ? 'Premium' : 'Free'}
        detail={premium ? 'Unlimited' : 'Limited'}
      />
      {!premium && <OwnServerNote className="col-span-full px-1 text-[0.8125rem] text-fg-muted" />}
    </section>
  )
}

/** Prominent once the plan's limit is reached. */
function Upgrade({ owner, count, prominent }: { owner: User; count: number; prominent: boolean }) {
  return (
    <Callout
      tone={prominent ? 'accent' : 'neutral'}
      icon={<Sparkles aria-hidden />}
      title="Upgrade to Premium"
      action={
        <Button asChild variant={prominent ? 'primary' : 'secondary'}>
          <Link to={paths.subscription}>Upgrade Now</Link>
        </Button>
      }
    >
      Unlock unlimited apps and licenses. Currently using {count} of{' '}
      {owner.maxApps === unlimited ? 'unlimited' : owner.maxApps} apps.
    </Callout>
  )
}

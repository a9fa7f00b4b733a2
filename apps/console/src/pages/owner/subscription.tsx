import { RefreshCw } from 'lucide-react'
import { toCancellation } from '../../features/subscription/cancellation.ts'
import { CurrentPlan } from '../../features/subscription/current-plan.tsx'
import { findNotice } from '../../features/subscription/notice.ts'
import { PaymentHistory } from '../../features/subscription/payment-history.tsx'
import { hasReceipt } from '../../features/subscription/payment-status.ts'
import {
  usePayments,
  usePlans,
  usePricing,
  useRefreshPlans,
  useSubscription,
} from '../../features/subscription/queries.ts'
import { RenewCard } from '../../features/subscription/renew-card.tsx'
import { AskOperatorCard, UpgradeCard } from '../../features/subscription/upgrade-card.tsx'
import { useCheckout } from '../../features/subscription/use-checkout.ts'
import { useCoupon } from '../../features/subscription/use-coupon.ts'
import { WaitingNotice } from '../../features/subscription/waiting-notice.tsx'
import { useOwner } from '../../lib/api/account.ts'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { serverNow } from '../../lib/api/server-time.ts'
import { wire } from '../../lib/api/wire.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { cx } from '../../ui/cx.ts'
import { DialogSlot } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ErrorState } from '../../ui/states.tsx'

const CancelDialog = lazyNamed(() => import('../../features/subscription/cancel-dialog.tsx'), 'CancelDialog')
const ReceiptDialog = lazyNamed(
  () => import('../../features/subscription/receipt-dialog.tsx'),
  'ReceiptDialog',
)

const dialogs = { cancel: [wire.payments.cancelSubscription], receipt: [wire.payments.history] }

export function SubscriptionPage() {
  const owner = useOwner().data
  const subscription = useSubscription()
  const plans = usePlans()
  const pricing = usePricing()
  const payments = usePayments().data
  const refresh = useRefreshPlans()
  const coupon = useCoupon()
  const checkout = useCheckout({
    buyer: owner ?? { _id: '', name: '', email: '' },
    couponCode: coupon.applied?.couponCode,
    onCouponRejected: coupon.reject,
    onActivated: coupon.remove,
  })
  const dialog = useCallDialog(dialogs)

  const mayBuy = useMay()(wire.payments.createOrder)
  const status = subscription.data
  const plan = plans.data?.find(({ _id }) => _id === status?.plan)
  const premium = plans.data?.find(({ name }) => name === 'Premium')
  const failed = (subscription.isError && !status) || (plans.isError && !plans.data)
  const known = status && plan && premium && !pricing.isPending
  const ending = status && findNotice(status, serverNow())?.kind === 'ending'
  const receipt = payments?.find((payment) => payment._id === dialog.id && hasReceipt(payment))
  // The account is known first, so the layout does not change once the status is loaded.
  const current = status ?? owner?.subscription
  const endless = current?.hasActiveSubscription && current.expiryDate === null
  const off = usePublicConfig()?.payments === 'off'
  const sells = !endless && !off
  // With payments off, a free plan leads to the operator, and premium to nothing.
  const offers = mayBuy && !endless && !(off && current?.hasActiveSubscription)
  return (
    <div className="grid w-full max-w-5xl gap-6">
      <div>
        <PageHeader
          title="Subscription"
          subtitle={
            !sells || !mayBuy
              ? 'Your plan and its features.'
              : 'Your plan, its features and the price of premium.'
          }
          actions={
            sells && (
              <Button onClick={() => refresh.mutate()} loading={refresh.isPending}>
                {!refresh.isPending && <RefreshCw />}
                Refresh plans
              </Button>
            )
          }
        />
        <div role="status">
          {checkout.waiting && (
            <WaitingNotice waiting={checkout.waiting} onCheck={() => void subscription.refetch()} />
          )}
        </div>
      </div>
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
        <div className={cx('grid items-start gap-4', offers && 'lg:grid-cols-[2fr_3fr]')}>
          {known ? (
            <CurrentPlan
              subscription={status}
              plan={plan}
              payments={payments ?? []}
              onCancel={dialog.may('cancel') ? () => dialog.open('cancel') : undefined}
            />
          ) : (
            <Skeleton className="h-96 rounded-xl" />
          )}
          {!offers ? null : !known ? (
            <Skeleton className="h-96 rounded-xl" />
          ) : off ? (
            <AskOperatorCard premium={premium} />
          ) : (
            <div className="grid min-w-0 gap-4">
              {ending && status.expiryDate && pricing.data && (
                <RenewCard
                  pricing={pricing.data}
                  expiryDate={status.expiryDate}
                  checkout={checkout}
                  coupon={coupon}
                />
              )}
              <UpgradeCard
                premium={premium}
                pricing={pricing.data}
                active={status.hasActiveSubscription}
                expiryDate={status.expiryDate}
                checkout={checkout}
                coupon={coupon}
              />
            </div>
          )}
        </div>
      )}
      {(failed || known) && (sells || (payments?.length ?? 0) > 0) && (
        <PaymentHistory onReceipt={({ _id }) => dialog.open('receipt', _id)} />
      )}
      <DialogSlot>
        {dialog.kind === 'cancel' && status && toCancellation(status) && (
          <CancelDialog subscription={status} onClose={dialog.close} />
        )}
        {dialog.kind === 'receipt' && receipt && owner && (
          <ReceiptDialog payment={receipt} billedTo={owner} onClose={dialog.close} />
        )}
      </DialogSlot>
    </div>
  )
}

import type { Order, PlanDuration } from '@keyward/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError, call, messageOf } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { loadCheckout, openCheckout, type Paid } from './provider-checkout.ts'
import { showSubscription, usePayments, useSubscription } from './queries.ts'
import { outcomeOf, pollMs, readWaiting, type Waiting, writeWaiting } from './waiting.ts'

export interface CheckoutFacts {
  buyer: { _id: string; name: string; email: string }
  couponCode: string | undefined
  onCouponRejected: (reason: string) => void
  onActivated: () => void
}

/** Buys a term, from the order to premium. The checkout or the server may report the payment first. */
export function useCheckout(facts: CheckoutFacts) {
  const { buyer, couponCode, onCouponRejected } = facts
  const onActivated = useRef(facts.onActivated)
  onActivated.current = facts.onActivated
  const client = useQueryClient()
  const [term, setTerm] = useState<PlanDuration>()
  const [failure, setFailure] = useState<string>()
  const [orderId, setOrderId] = useState<string>()
  const [waiting, setWaiting] = useState(() => readWaiting(buyer._id))
  const running = useRef<AbortController>(undefined)
  const announced = useRef<string>(undefined)

  const polls = () => waiting !== undefined && Date.now() - waiting.since < pollMs
  const subscription = useSubscription(polls).data
  const payments = usePayments().data
  const watched = waiting?.orderId ?? orderId
  const paymentId = waiting?.paymentId
  const outcome = watched && outcomeOf({ orderId: watched, paymentId }, subscription, payments)

  const wait = useCallback((next: Waiting | undefined) => {
    writeWaiting(next)
    setWaiting(next)
  }, [])

  /** The server may report the payment before, after or without the checkout. */
  const announce = useCallback(
    (activated: string) => {
      if (announced.current === activated) return
      announced.current = activated
      setFailure(undefined)
      wait(undefined)
      running.current?.abort()
      onActivated.current()
      toast.success('Subscription activated successfully!')
    },
    [wait],
  )

  useEffect(() => {
    if (!watched || !outcome) return
    if (outcome === 'active') {
      if (subscription && announced.current !== watched) showSubscription(client, subscription)
      announce(watched)
    } else if (waiting) {
      wait(undefined)
      if (outcome === 'failed') toast.error('Failed to verify payment')
      else toast.info('This payment could not be used. It is refunded in full.')
    }
  }, [watched, outcome, waiting, subscription, announce, wait, client])

  useEffect(() => () => running.current?.abort(), [])

  async function order(planDuration: PlanDuration): Promise<Order | undefined> {
    try {
      return await call(wire.payments.createOrder, { body: { planDuration, couponCode } })
    } catch (error) {
      const reason = messageOf(error, 'Failed to create subscription order')
      toast.error(reason)
      if (error instanceof ApiError && error.code === 'invalid_coupon') onCouponRejected(reason)
      return undefined
    }
  }

  async function pay(placedOrder: Order, signal: AbortSignal): Promise<Paid | undefined> {
    if (isSimulated(placedOrder)) return simulatedPayment(placedOrder)
    if (!(await loadCheckout())) {
      toast.error('Failed to load payment gateway. Please try again.')
      return undefined
    }
    if (signal.aborted) return undefined
    return openCheckout({
      order: placedOrder,
      buyer,
      signal,
      onDismiss: () => toast.info('Payment cancelled'),
      onFailed: (reason) => setFailure(reason ?? 'The payment failed.'),
    })
  }

  async function verify(placedOrder: Order, paid: Paid) {
    setFailure(undefined)
    try {
      const { planDuration } = placedOrder
      const body = { ...paid, planDuration, couponCode: placedOrder.couponCode ?? undefined }
      const answer = await call(wire.payments.verify, { body })
      showSubscription(client, answer.subscription)
      announce(placedOrder.orderId)
    } catch (error) {
      if (announced.current === placedOrder.orderId) return
      if (!isSimulated(placedOrder) && isUnsettled(error)) {
        wait({
          ownerId: buyer._id,
          orderId: placedOrder.orderId,
          paymentId: paid.razorpay_payment_id,
          since: Date.now(),
        })
        return
      }
      const fallback = isSimulated(placedOrder) ? 'Failed to verify mock payment' : 'Failed to verify payment'
      toastFailure(error, fallback)
      void client.invalidateQueries({ queryKey: keys.payments })
    }
  }

  async function begin(planDuration: PlanDuration) {
    if (running.current || waiting) return
    const attempt = new AbortController()
    running.current = attempt
    setTerm(planDuration)
    setFailure(undefined)
    try {
      const placedOrder = await order(planDuration)
      if (!placedOrder || attempt.signal.aborted) return
      setOrderId(placedOrder.orderId)
      const paid = await pay(placedOrder, attempt.signal)
      if (paid) await verify(placedOrder, paid)
    } catch {
      toast.error('Failed to initiate subscription')
    } finally {
      running.current = undefined
      setTerm(undefined)
    }
  }

  return { begin, term, failure, waiting }
}

export type Checkout = ReturnType<typeof useCheckout>

const isSimulated = ({ isDevelopmentMode, orderId }: Order) =>
  isDevelopmentMode || orderId.startsWith('order_mock_')

const simulatedPayment = ({ orderId }: Order): Paid => ({
  razorpay_order_id: orderId,
  razorpay_payment_id: `pay_mock_${orderId.replace(/^order_(mock_)?/, '')}`,
  razorpay_signature: 'signature_mock',
})

/** Whether only the provider's confirmation is missing, which the server receives without the console. */
function isUnsettled(error: unknown) {
  if (!(error instanceof ApiError)) return false
  return (
    error.status === 0 ||
    error.code === 'payment_pending' ||
    error.code === 'payment_provider_unavailable' ||
    error.status === 429
  )
}

import type { Order, PlanDuration } from '@keyward/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError, call, messageOf } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { toastFailure } from '../../ui/failure-toast.ts'
import { toast } from '../../ui/toast.tsx'
import { loadCheckout, openCheckout, type Paid } from './provider-checkout.ts'
import { showSubscription, usePayments, useSubscription } from './queries.ts'
import { outcomeOf, pollMs, readWaiting, type Waiting, writeWaiting } from './waiting.ts'

export interface CheckoutFacts {
  buyer: { _id: string; name: string; email: string }
  couponCode: string | undefined
  onCouponRefused: (why: string) => void
  onActivated: () => void
}

/** Buying a term, from the order to premium: one at a time, whoever tells of the payment first. */
export function useCheckout(facts: CheckoutFacts) {
  const { buyer, couponCode, onCouponRefused } = facts
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

  /** The server may tell of the payment before, after or without the checkout. */
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
      const why = messageOf(error, 'Failed to create subscription order')
      toast.error(why)
      if (error instanceof ApiError && error.code === 'invalid_coupon') onCouponRefused(why)
      return undefined
    }
  }

  async function pay(placed: Order, signal: AbortSignal): Promise<Paid | undefined> {
    if (isSimulated(placed)) return simulatedPayment(placed)
    if (!(await loadCheckout())) {
      toast.error('Failed to load payment gateway. Please try again.')
      return undefined
    }
    if (signal.aborted) return undefined
    return openCheckout({
      order: placed,
      buyer,
      signal,
      onDismiss: () => toast.info('Payment cancelled'),
      onFailed: (why) => setFailure(why ?? 'The payment failed.'),
    })
  }

  async function verify(placed: Order, paid: Paid) {
    setFailure(undefined)
    try {
      const { planDuration } = placed
      const body = { ...paid, planDuration, couponCode: placed.couponCode ?? undefined }
      const answer = await call(wire.payments.verify, { body })
      showSubscription(client, answer.subscription)
      announce(placed.orderId)
    } catch (error) {
      if (announced.current === placed.orderId) return
      if (!isSimulated(placed) && isUnsettled(error)) {
        wait({
          ownerId: buyer._id,
          orderId: placed.orderId,
          paymentId: paid.razorpay_payment_id,
          since: Date.now(),
        })
        return
      }
      const fallback = isSimulated(placed) ? 'Failed to verify mock payment' : 'Failed to verify payment'
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
      const placed = await order(planDuration)
      if (!placed || attempt.signal.aborted) return
      setOrderId(placed.orderId)
      const paid = await pay(placed, attempt.signal)
      if (paid) await verify(placed, paid)
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

/** The checkout reported a payment, and only its confirmation is missing: it comes to the server by itself. */
function isUnsettled(error: unknown) {
  if (!(error instanceof ApiError)) return false
  return (
    error.status === 0 ||
    error.code === 'payment_pending' ||
    error.code === 'payment_provider_unavailable' ||
    error.status === 429
  )
}

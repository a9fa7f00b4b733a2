import { setTimeout as pause } from 'node:timers/promises'
import { problem } from '../../core/problem.ts'
import { type Payments, requireProvider } from './payments.ctx.ts'
import { lookAt, lookAtAll } from './payments.look.ts'
import type { PaymentProvider, ProviderEvent } from './payments.provider.ts'
import * as repo from './payments.repo.ts'
import { giveBack } from './payments.service.ts'
import { type Look, note, settleNoted } from './payments.settle.ts'

/** The provider wants an answer within five seconds, and sends an event again that was not answered. */
const answerWithinMs = 4500

/**
 * Takes an event of the provider. The event only tells where to look: what is so is asked for, so that it does not
 * matter how often, in which order and how late events come, or whether somebody sends an old one again.
 */
export async function takeEvent(payments: Payments, body: Buffer, signature: string): Promise<void> {
  const provider = requireProvider(payments)
  const event = provider.readEvent(body, signature)
  if (!event) throw problem('invalid_signature')
  let isNoted = false
  const take = async () => {
    const order = await findOrder(payments, provider, event)
    if (!order) return
    await note(payments, order.id)
    // Of a dispute nothing but the event tells, so it has to come again.
    isNoted = event.disputeId === undefined
    await settleNoted(payments, order.id, toLook(provider, event))
    await giveBack(payments, provider, order.id)
  }
  const taken = take().then(
    () => true,
    (error: unknown) => {
      payments.onError(error)
      return false
    },
  )
  const isTaken = await Promise.race([taken, pause(answerWithinMs, undefined, { ref: false })])
  if (isTaken !== true && !isNoted) throw problem('payment_provider_unavailable')
}

/** Undefined for what is not about an order of ours: other businesses may share the account at the provider. */
async function findOrder({ ctx }: Payments, provider: PaymentProvider, event: ProviderEvent) {
  const { orderId, paymentId } = event
  const unknown = { orderId: '', amount: 0, currency: '' }
  const id = orderId ?? (paymentId && (await provider.findPayment(paymentId, unknown))?.orderId)
  return id ? repo.findProviderOrder(ctx.db, provider.name, id) : undefined
}

function toLook(provider: PaymentProvider, { paymentId, disputeId }: ProviderEvent): Look {
  if (paymentId === undefined) return lookAtAll(provider)
  return async (order) => {
    const sighting = await lookAt(provider, order, paymentId)
    if (!sighting) return []
    const dispute = disputeId === undefined ? undefined : await provider.findDispute(disputeId)
    return [{ ...sighting, dispute: dispute?.paymentId === paymentId ? dispute : undefined }]
  }
}

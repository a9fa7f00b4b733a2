import { endpoints } from '@keyward/contract'
import { WithMessage } from '../../core/answers.ts'
import type { Input, Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { validateCoupon } from './coupons.service.ts'
import { createOrder } from './payments.orders.ts'
import { acceptEvent } from './payments.pipeline.ts'
import { requireProvider } from './payments.provider.ts'
import * as service from './payments.service.ts'

export function paymentsRoutes(mount: Mount, { ctx, payments, attempts, readUser }: Parts): void {
  const calls = endpoints.payments
  mount(calls.createOrder, 'owner', ({ actor, body }) =>
    createOrder(payments, attempts, actor, {
      duration: body.planDuration ?? body.duration ?? 'monthly',
      couponCode: body.couponCode,
    }),
  )
  mount(calls.verify, 'owner', async ({ actor, body }) => {
    const verified = await service.verify(payments, actor, body)
    return new WithMessage(verified, 'Subscription activated successfully!')
  })
  const accept = async ({ sent }: Input<typeof calls.webhook>) => {
    const signature = sent.headers['x-razorpay-signature']
    await acceptEvent(payments, sent.body, typeof signature === 'string' ? signature : '')
    return {}
  }
  mount(calls.webhook, 'public', accept, async () => void requireProvider(payments))
  mount(calls.history, 'owner', async ({ actor }) => ({
    payments: await service.listPayments(ctx.db, actor),
  }))
  mount(calls.validateCoupon, 'owner', async ({ actor, body }) => {
    const validated = await validateCoupon(ctx, attempts, actor, body.couponCode)
    return new WithMessage(validated, `${validated.couponCode}: ${validated.discount}% off`)
  })
  mount(calls.cancelSubscription, 'owner', async ({ actor, body }) => {
    const { refund, message } = await service.cancel(payments, actor, body)
    return new WithMessage({ user: await readUser(actor), refund }, message)
  })
}

import { expect, test } from 'vitest'
import { start } from './stand-in.ts'

test('an order is made, paid, fetched and refunded', async () => {
  const { provider, call } = await start()
  const made = await call('POST', '/v1/orders', { amount: 49900, currency: 'INR', receipt: 'r-1' })
  expect(made.status).toBe(200)
  expect(made.json).toMatchObject({ entity: 'order', status: 'created', amount_due: 49900, attempts: 0 })
  const paid = provider.pay(made.json.id)
  expect((await call('GET', `/v1/orders/${made.json.id}`)).json).toMatchObject({
    status: 'paid',
    amount_paid: 49900,
    amount_due: 0,
    attempts: 1,
  })
  const refunded = await call('POST', `/v1/payments/${paid.razorpay_payment_id}/refund`, {})
  expect(refunded.json).toMatchObject({ entity: 'refund', amount: 49900, status: 'processed' })
  expect(provider.payment(paid.razorpay_payment_id)).toMatchObject({
    status: 'refunded',
    refund_status: 'full',
  })
})

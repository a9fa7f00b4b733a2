import { afterAll, beforeAll, expect, test } from 'vitest'
import { signUp } from '../actors.ts'
import { startServer, type TestServer } from '../harness.ts'
import { activationsOf, historyOf, placeOrder, report } from '../payment-actor.ts'
import { rounds, times } from '../rounds.ts'

let on: TestServer
beforeAll(async () => {
  on = await startServer({ PAYMENTS: 'mock' })
})
afterAll(() => on.close())

test('answers each of 48 concurrent reports of different payments of one order, and activates one', async () => {
  for (let round = 0; round < rounds(3, 10); round += 1) {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    const answers = await times(48, (at) =>
      report(buyer, {
        razorpay_order_id: orderId,
        razorpay_payment_id: `pay_mock_${at}`,
        razorpay_signature: 'signature_mock',
      }),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 47 }, () => 409)])
    expect(await activationsOf(on, buyer)).toBe(1)
    const payments = (await historyOf(buyer)).map(({ status }) => status)
    expect(payments.filter((status) => status === 'paid')).toHaveLength(1)
    expect(payments).toHaveLength(48)
  }
})

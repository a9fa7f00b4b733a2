import { describe, expect, test } from 'vitest'
import { start } from './stand-in.ts'

async function startPaid(options: Parameters<typeof start>[0] = {}) {
  const started = await start(options)
  const { id } = started.order()
  const { razorpay_payment_id: paymentId } = started.provider.pay(id)
  const refund = (body: unknown, key?: string) =>
    started.call('POST', `/v1/payments/${paymentId}/refund`, body, {
      headers: key === undefined ? {} : { 'x-refund-idempotency': key },
    })
  return { ...started, orderId: id, paymentId, refund }
}

describe('refunds', () => {
  test('refunds a payment in parts and then in full; its order stays paid', async () => {
    const { provider, call, orderId, paymentId, refund } = await startPaid()
    const part = await refund({ amount: 10000, receipt: 'back 1', notes: { why: 'asked' } })
    expect(part).toEqual({
      status: 200,
      json: {
        id: expect.stringMatching(/^rfnd_[A-Za-z0-9]{14}$/),
        entity: 'refund',
        amount: 10000,
        currency: 'INR',
        payment_id: paymentId,
        notes: { why: 'asked' },
        receipt: 'back 1',
        acquirer_data: { arn: null },
        created_at: expect.any(Number),
        batch_id: null,
        status: 'processed',
        speed_processed: 'normal',
        speed_requested: 'normal',
      },
    })
    expect(provider.payment(paymentId)).toMatchObject({
      status: 'captured',
      refund_status: 'partial',
      amount_refunded: 10000,
    })
    expect((await refund({})).json.amount).toBe(39900)
    expect(provider.payment(paymentId)).toMatchObject({ status: 'refunded', refund_status: 'full' })
    expect(provider.order(orderId).status).toBe('paid')
    expect((await call('GET', `/v1/payments/${paymentId}/refunds`)).json.count).toBe(2)
    expect((await call('GET', `/v1/refunds/${part.json.id}`)).json).toEqual(part.json)
  })

  test.each([
    [{ amount: 49901 }, 'The refund amount provided is greater than amount captured'],
    [{ amount: 99 }, 'The amount must be at least INR 1.00'],
    [{ amount: 100.5 }, 'The amount must be an integer.'],
    [{ speed: 'light' }, 'The selected speed is invalid.'],
    [{ reason: 'asked' }, 'reason is/are not required and should not be sent'],
  ])('rejects %j', async (body, description) => {
    const { provider, refund } = await startPaid()
    const { status, json } = await refund(body)
    expect([status, json.error.description]).toEqual([400, description])
    expect(provider.refunds()).toEqual([])
  })

  test('rejects more than remains, and anything after a full refund', async () => {
    const { provider, refund } = await startPaid()
    await refund({ amount: 40000 })
    expect((await refund({ amount: 9901 })).json.error.description).toContain('greater than amount captured')
    await refund({ amount: 9900 })
    expect((await refund({})).json.error.description).toBe('The payment has been fully refunded already')
    expect(provider.refunds()).toHaveLength(2)
  })

  test('only the provider can refund an uncaptured payment', async () => {
    const { provider, call, order } = await start()
    const { razorpay_payment_id: id } = provider.pay(order().id, { status: 'authorized' })
    const refused = await call('POST', `/v1/payments/${id}/refund`, {})
    expect(refused.json.error.description).toBe(
      'The payment status should be captured for action to be taken',
    )
    provider.refundUncaptured(id)
    expect(provider.payment(id)).toMatchObject({ status: 'refunded', captured: false })
  })

  test('a pending refund is processed or fails later; a failed one moves no money', async () => {
    const { provider, paymentId, refund } = await startPaid({ refunds: 'pending' })
    const { json } = await refund({ amount: 10000 })
    expect(json.status).toBe('pending')
    expect(provider.events.at(-1)?.event).toBe('refund.created')
    provider.failRefund(json.id)
    expect(provider.payment(paymentId)).toMatchObject({ amount_refunded: 0, refund_status: null })
    const whole = await refund({})
    expect(provider.processRefund(whole.json.id)).toMatchObject({ amount: 49900, status: 'processed' })
    expect(provider.events.slice(-3).map(({ event }) => event)).toEqual([
      'refund.failed',
      'refund.created',
      'refund.processed',
    ])
  })

  test('sends events for refunds made in the dashboard', async () => {
    const { provider, paymentId } = await startPaid()
    provider.refund(paymentId, 20000)
    expect(JSON.parse(provider.events.at(-1)!.body)).toMatchObject({
      event: 'refund.processed',
      contains: ['refund', 'payment'],
      payload: {
        refund: { entity: { amount: 20000, payment_id: paymentId } },
        payment: { entity: { id: paymentId, amount_refunded: 20000 } },
      },
    })
  })
})

describe('idempotency of refunds', () => {
  test('returns the same refund for the same key and body', async () => {
    const { provider, refund } = await startPaid()
    const first = await refund({ amount: 10000, speed: 'normal' }, 'refund-0001')
    const again = await refund({ speed: 'normal', amount: 10000 }, 'refund-0001')
    expect(again).toEqual(first)
    expect((await refund({ amount: 10000 }, 'refund-0002')).json.id).not.toBe(first.json.id)
    expect(provider.refunds()).toHaveLength(2)
  })

  test('rejects the same key with another body', async () => {
    const { provider, refund } = await startPaid()
    await refund({ amount: 10000 }, 'refund-0001')
    const refused = await refund({ amount: 20000 }, 'refund-0001')
    expect(refused).toEqual({
      status: 409,
      json: {
        error: {
          code: 'BAD_REQUEST_ERROR',
          description: 'Different request with the same idempotency key has already been processed.',
          source: 'NA',
          step: 'NA',
          reason: 'NA',
          metadata: {},
        },
      },
    })
    expect(provider.refunds()).toHaveLength(1)
  })

  test.each([
    ['ninechars', 'The idempotency key must be at least 10 characters long.'],
    [
      'with a space',
      'The idempotency key must only contain alphanumeric characters, underscores, and hyphens',
    ],
  ])('rejects the key "%s"', async (key, description) => {
    const { refund } = await startPaid()
    const { status, json } = await refund({}, key)
    expect([status, json.error.description]).toEqual([400, description])
  })

  test('a rejected refund does not use up its key', async () => {
    const { refund } = await startPaid()
    expect((await refund({ amount: 1 }, 'refund-0001')).status).toBe(400)
    expect((await refund({ amount: 10000 }, 'refund-0001')).status).toBe(200)
  })

  test('a key whose first request is still running is a conflict', async () => {
    const { provider, refund } = await startPaid()
    const fault = provider.fail({ path: /refund$/, mode: 'late-answer' })
    const first = refund({ amount: 10000 }, 'refund-0001')
    await expect.poll(() => provider.refunds().length).toBe(1)
    const second = await refund({ amount: 10000 }, 'refund-0001')
    expect(second).toMatchObject({ status: 409, json: { error: { code: 'BAD_REQUEST_ERROR' } } })
    fault.release()
    expect((await first).json.id).toBe(provider.refunds()[0]!.id)
    expect((await refund({ amount: 10000 }, 'refund-0001')).json.id).toBe((await first).json.id)
  })
})

describe('disputes', () => {
  test('opens and loses a dispute', async () => {
    const { provider, call, paymentId } = await startPaid()
    const { id } = provider.dispute(paymentId, { amount: 20000 })
    expect((await call('GET', `/v1/disputes/${id}`)).json).toMatchObject({
      entity: 'dispute',
      payment_id: paymentId,
      amount: 20000,
      amount_deducted: 0,
      status: 'open',
      phase: 'chargeback',
    })
    provider.closeDispute(id, 'lost')
    expect(provider.findDispute(id)).toMatchObject({ status: 'lost', amount_deducted: 20000 })
    expect(JSON.parse(provider.events.at(-1)!.body)).toMatchObject({
      event: 'payment.dispute.lost',
      contains: ['payment', 'dispute'],
      payload: { dispute: { entity: { id } }, payment: { entity: { id: paymentId } } },
    })
    expect(() => provider.closeDispute(id, 'won')).toThrow('closed already')
  })

  test('a won dispute deducts nothing', async () => {
    const { provider, paymentId } = await startPaid()
    const { id } = provider.dispute(paymentId)
    expect(provider.closeDispute(id, 'won')).toMatchObject({ status: 'won', amount_deducted: 0 })
    expect(provider.events.slice(-2).map(({ event }) => event)).toEqual([
      'payment.dispute.created',
      'payment.dispute.won',
    ])
  })
})

import { describe, expect, test } from 'vitest'
import { keys, start } from './stand-in.ts'

const inr = { amount: 49900, currency: 'INR' }

describe('authentication', () => {
  test.each([
    ['no header', ''],
    ['another secret', `Basic ${btoa(`${keys.keyId}:wrong`)}`],
    ['another key', `Basic ${btoa(`rzp_test_other:${keys.keySecret}`)}`],
    ['another scheme', `basic ${btoa(`${keys.keyId}:${keys.keySecret}`)}`],
  ])('rejects %s with 401 and does nothing', async (_name, authorization) => {
    const { provider, call } = await start()
    const refused = await call('POST', '/v1/orders', inr, { headers: { authorization } })
    expect(refused).toEqual({
      status: 401,
      json: { error: { code: 'BAD_REQUEST_ERROR', description: 'Authentication failed' } },
    })
    expect(provider.orders()).toEqual([])
  })
})

describe('orders', () => {
  test('returns every documented field of an order', async () => {
    const { call } = await start({ now: () => 1_700_000_000_900 })
    const { status, json } = await call('POST', '/v1/orders', {
      ...inr,
      receipt: 'r-1',
      notes: { account: 'usr_1' },
    })
    expect(status).toBe(200)
    expect(json).toEqual({
      id: expect.stringMatching(/^order_[A-Za-z0-9]{14}$/),
      entity: 'order',
      amount: 49900,
      amount_paid: 0,
      amount_due: 49900,
      currency: 'INR',
      receipt: 'r-1',
      offer_id: null,
      status: 'created',
      attempts: 0,
      notes: { account: 'usr_1' },
      created_at: 1_700_000_000,
    })
    expect((await call('GET', `/v1/orders/${json.id}`)).json).toEqual(json)
  })

  test.each([
    [{ ...inr, amount: 99 }, 'Order amount less than minimum amount allowed'],
    [{ ...inr, amount: -100 }, 'The amount must be at least INR 1.00'],
    [{ ...inr, amount: 100.5 }, 'The amount must be an integer.'],
    [{ ...inr, amount: '49900' }, 'The amount must be an integer.'],
    [{ currency: 'INR' }, 'amount: is required.'],
    [{ amount: 49900 }, 'currency: is required.'],
    [{ ...inr, currency: 1 }, 'expected string but provided number'],
    [{ ...inr, currency: 'XYZ' }, 'Currency is not supported'],
    [{ ...inr, receipt: 'r'.repeat(41) }, 'The receipt may not be greater than 40 characters.'],
    [{ ...inr, price: 1 }, 'price is/are not required and should not be sent'],
    [
      { ...inr, notes: Object.fromEntries([...Array(16).keys()].map((key) => [key, ''])) },
      'The notes may not have more than 15 items.',
    ],
  ])('rejects %j', async (body, description) => {
    const { provider, call } = await start()
    const refused = await call('POST', '/v1/orders', body)
    expect(refused.status).toBe(400)
    expect(refused.json.error).toMatchObject({
      code: 'BAD_REQUEST_ERROR',
      description,
      source: 'business',
      metadata: {},
    })
    expect(provider.orders()).toEqual([])
  })

  test('finds orders by receipt, newest first', async () => {
    const { call } = await start()
    const first = await call('POST', '/v1/orders', { ...inr, receipt: 'r-1' })
    const second = await call('POST', '/v1/orders', { ...inr, receipt: 'r-1' })
    await call('POST', '/v1/orders', { ...inr, receipt: 'r-2' })
    const found = await call('GET', '/v1/orders?receipt=r-1')
    expect(found.json).toMatchObject({ entity: 'collection', count: 2 })
    expect(found.json.items.map(({ id }: { id: string }) => id)).toEqual([second.json.id, first.json.id])
    expect((await call('GET', '/v1/orders?receipt=r-3')).json).toEqual({
      entity: 'collection',
      count: 0,
      items: [],
    })
  })

  test('returns the same order for a unique receipt and rejects another amount', async () => {
    const { call } = await start()
    const asked = { ...inr, receipt: 'r-1', unique_receipt: true }
    const first = await call('POST', '/v1/orders', asked)
    expect((await call('POST', '/v1/orders', asked)).json.id).toBe(first.json.id)
    const other = await call('POST', '/v1/orders', { ...asked, amount: 100 })
    expect(other.json.error.description).toBe('Order receipt should be unique.')
  })

  test('can be set to reject reused receipts', async () => {
    const { call } = await start({ uniqueReceipts: true })
    await call('POST', '/v1/orders', { ...inr, receipt: 'r-1' })
    expect((await call('POST', '/v1/orders', { ...inr, receipt: 'r-1' })).status).toBe(400)
  })

  test.each([
    ['/v1/orders/order_00000000000000', 'The id provided does not exist'],
    ['/v1/orders/nothing', 'nothing is not a valid id'],
    ['/v1/payments/pay_00000000000000', 'The id provided does not exist'],
    ['/v1/disputes/disp_00000000000000', 'The id provided does not exist'],
    ['/v1/nothing', 'The requested URL was not found on the server.'],
  ])('rejects %s', async (path, description) => {
    const { call } = await start()
    const { status, json } = await call('GET', path)
    expect([status, json.error.description]).toEqual([400, description])
  })
})

describe('payments', () => {
  test('returns amounts, attempts and payments of a paid order', async () => {
    const { provider, call, order } = await start()
    const { id } = order()
    provider.pay(id, { status: 'failed' })
    expect(provider.order(id)).toMatchObject({ status: 'attempted', attempts: 1, amount_due: 49900 })
    const { razorpay_payment_id: paymentId } = provider.pay(id, { method: 'upi', email: 'a@example.com' })
    expect(provider.order(id)).toMatchObject({
      status: 'paid',
      attempts: 2,
      amount_paid: 49900,
      amount_due: 0,
    })
    const { json } = await call('GET', `/v1/orders/${id}/payments`)
    expect(json).toMatchObject({ entity: 'collection', count: 2 })
    expect(json.items[0]).toEqual({
      id: paymentId,
      entity: 'payment',
      amount: 49900,
      currency: 'INR',
      status: 'captured',
      order_id: id,
      invoice_id: null,
      international: false,
      method: 'upi',
      amount_refunded: 0,
      refund_status: null,
      captured: true,
      description: null,
      card_id: null,
      bank: null,
      wallet: null,
      vpa: 'customer@upi',
      email: 'a@example.com',
      contact: '+919900000000',
      notes: [],
      fee: 1177,
      tax: 179,
      error_code: null,
      error_description: null,
      error_source: null,
      error_step: null,
      error_reason: null,
      acquirer_data: {},
      created_at: expect.any(Number),
      provider: null,
      reward: null,
      base_amount: 49900,
      amount_transferred: 0,
    })
    expect(json.items[1]).toMatchObject({
      status: 'failed',
      captured: false,
      error_code: 'BAD_REQUEST_ERROR',
      error_reason: 'payment_failed',
    })
  })

  test('accepts no second payment for a paid order unless forced', async () => {
    const { provider, order } = await start()
    const { id } = order()
    provider.pay(id)
    expect(() => provider.pay(id)).toThrow('the order is already paid')
    provider.pay(id, { evenIfPaid: true })
    expect(provider.order(id)).toMatchObject({ status: 'paid', amount_paid: 99800, amount_due: 0 })
    expect(provider.events.filter(({ event }) => event === 'order.paid')).toHaveLength(1)
  })

  test('captures an authorized payment once, with its own amount and currency', async () => {
    const { provider, call, order } = await start()
    const { id } = order()
    const { razorpay_payment_id: paymentId } = provider.pay(id, { status: 'authorized' })
    const capture = (body: unknown) => call('POST', `/v1/payments/${paymentId}/capture`, body)
    for (const [body, description] of [
      [{ amount: 100, currency: 'INR' }, 'Capture amount must be equal to the amount authorized'],
      [{ ...inr, currency: 'USD' }, 'Capture currency must be equal to the currency authorized'],
      [{ ...inr, amount: 1.5 }, 'The amount must be an integer.'],
      [{ amount: 49900 }, 'currency: is required.'],
    ] as const) {
      const refused = await capture(body)
      expect([refused.status, refused.json.error.description]).toEqual([400, description])
    }
    expect(provider.payment(paymentId)).toMatchObject({ status: 'authorized', fee: null })
    const captured = await capture(inr)
    expect(captured).toMatchObject({ status: 200, json: { status: 'captured', captured: true } })
    expect((await capture(inr)).json.error.description).toBe('This payment has already been captured')
    expect(provider.order(id).status).toBe('paid')
  })

  test('captures no failed or unknown payment and no second one of a paid order', async () => {
    const { provider, call, order } = await start()
    const { id } = order()
    const failed = provider.pay(id, { status: 'failed' })
    const second = provider.pay(id, { status: 'authorized' })
    provider.pay(id)
    const capture = async (paymentId: string) =>
      (await call('POST', `/v1/payments/${paymentId}/capture`, inr)).json.error.description
    expect(await capture(failed.razorpay_payment_id)).toContain('authorized and not yet captured')
    expect(await capture(second.razorpay_payment_id)).toContain('the order is already paid')
    expect(await capture('pay_00000000000000')).toBe('The id provided does not exist')
  })

  test('can authorize a failed payment late', async () => {
    const { provider, order } = await start()
    const { id } = order()
    const { razorpay_payment_id: paymentId } = provider.pay(id, { status: 'failed' })
    const late = provider.authorizeLater(paymentId)
    expect(late.razorpay_signature).toBe(provider.checkoutSignature(id, paymentId))
    expect(provider.payment(paymentId)).toMatchObject({
      status: 'captured',
      late_authorized: true,
      error_code: null,
    })
    expect(provider.events.map(({ event }) => event)).toEqual([
      'payment.failed',
      'payment.authorized',
      'payment.captured',
      'order.paid',
    ])
    expect(() => provider.authorizeLater(paymentId)).toThrow('Only a failed payment')
  })
})

import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { keys, listen, start } from './stand-in.ts'

const paidEvents = ['payment.authorized', 'payment.captured', 'order.paid']

describe('signatures', () => {
  test('the checkout signature matches the documented example', async () => {
    const { provider } = await start()
    expect(provider.checkoutSignature('order_IEIaMR65cu6nz3', 'pay_IH4NVgf4Dreq1l')).toBe(
      '0d4e745a1838664ad6c9c9902212a32d627d68e917290b0ad5f08ff4561bc50f',
    )
  })

  test('a payment returns a signature, a failed one none', async () => {
    const { provider, order } = await start()
    const { id } = order()
    expect(provider.pay(id, { status: 'failed' }).razorpay_signature).toBe('')
    const paid = provider.pay(id)
    expect(paid.razorpay_order_id).toBe(id)
    expect(paid.razorpay_signature).toBe(provider.checkoutSignature(id, paid.razorpay_payment_id))
  })

  test("signs a webhook's raw body with the webhook secret", async () => {
    const hook = await listen()
    const { provider, order } = await start({ webhookUrl: hook.url })
    provider.pay(order().id)
    const [event] = provider.events
    const delivery = await provider.deliver(event!)
    expect(delivery).toEqual({ status: 200, body: '{"ok":true}', tookMs: expect.any(Number) })
    const [{ headers, body }] = hook.received as [{ headers: Record<string, unknown>; body: string }]
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-razorpay-event-id': event!.eventId,
      'x-razorpay-signature': createHmac('sha256', keys.webhookSecret).update(body).digest('hex'),
    })
    expect(provider.sign(body)).toBe(event!.signature)
    expect(JSON.parse(body)).toMatchObject({
      entity: 'event',
      account_id: provider.accountId,
      event: 'payment.authorized',
      contains: ['payment'],
      payload: { payment: { entity: { status: 'authorized', captured: false } } },
      created_at: expect.any(Number),
    })
  })
})

describe('manual delivery', () => {
  test('delivers nothing until asked to, and then only new events in order', async () => {
    const hook = await listen()
    const { provider, order } = await start({ webhookUrl: hook.url })
    const { razorpay_payment_id: paymentId } = provider.pay(order().id)
    expect(provider.events.map(({ event }) => event)).toEqual(paidEvents)
    expect(hook.received).toEqual([])
    await provider.deliverAll()
    provider.refund(paymentId)
    await provider.deliverAll()
    expect(hook.names()).toEqual([...paidEvents, 'refund.created', 'refund.processed'])
    expect(await provider.deliverAll()).toEqual([])
    await provider.deliverAll({ again: true })
    expect(hook.received).toHaveLength(10)
  })

  test('reverses, duplicates, shuffles and parallelizes events', async () => {
    const hook = await listen()
    const { provider, order } = await start({ webhookUrl: hook.url })
    provider.pay(order().id)
    await provider.deliverAll({ order: 'reversed', duplicates: 1 })
    expect(hook.names()).toEqual(paidEvents.toReversed().flatMap((name) => [name, name]))
    await provider.deliverAll({ order: 'shuffled', again: true, concurrent: true })
    expect(hook.names().slice(6).sort()).toEqual(paidEvents.toSorted())
    await provider.deliverAll({ order: (events) => events.slice(1), again: true })
    expect(hook.names().slice(9)).toEqual(paidEvents.slice(1))
  })

  test('forges an event, replays it under a new id, and strips its headers', async () => {
    const hook = await listen()
    const { provider, order } = await start({ webhookUrl: hook.url })
    provider.pay(order().id)
    const [event] = provider.events
    await provider.deliver(event!, { body: '{}', signature: 'f'.repeat(64) })
    await provider.deliver(event!, { eventId: 'another' })
    await provider.deliver(event!, { signature: null, eventId: null })
    const [forged, replayed, stripped] = hook.received
    expect(forged).toMatchObject({ body: '{}', headers: { 'x-razorpay-signature': 'f'.repeat(64) } })
    expect(replayed).toMatchObject({ body: event!.body, headers: { 'x-razorpay-event-id': 'another' } })
    expect(stripped!.headers).not.toHaveProperty('x-razorpay-signature')
    expect(stripped!.headers).not.toHaveProperty('x-razorpay-event-id')
  })

  test('an unreachable receiver is status 0 and the event stays undelivered', async () => {
    const { provider, order } = await start({ webhookUrl: 'http://127.0.0.1:9/webhooks' })
    provider.pay(order().id)
    expect((await provider.deliverAll()).map(({ status }) => status)).toEqual([0, 0, 0])
    const hook = await listen()
    provider.setWebhookUrl(hook.url)
    await provider.deliverAll()
    expect(hook.names()).toEqual(paidEvents)
  })
})

describe('automatic delivery', () => {
  test('sends events in order as they happen', async () => {
    const hook = await listen()
    const { provider, order } = await start({ webhookUrl: hook.url, autoWebhooks: true })
    provider.pay(order().id)
    await provider.settled()
    expect(hook.names()).toEqual(paidEvents)
  })

  test('delayed events overtake each other, and settled() waits for all of them', async () => {
    const hook = await listen()
    const delayMs = ({ event }: { event: string }) => (event === 'payment.authorized' ? 300 : 1)
    const { provider, order } = await start({ webhookUrl: hook.url, autoWebhooks: { delayMs } })
    provider.pay(order().id)
    expect(hook.received).toEqual([])
    await provider.settled()
    expect(hook.names().at(-1)).toBe('payment.authorized')
    expect(hook.names().sort()).toEqual(paidEvents.toSorted())
  })

  test('loses and duplicates events, which can be delivered manually later', async () => {
    const hook = await listen()
    const { provider, order } = await start({
      webhookUrl: hook.url,
      autoWebhooks: { lose: ({ event }) => event === 'order.paid', duplicate: 1 },
    })
    provider.pay(order().id)
    await provider.settled()
    expect(hook.names()).toEqual(paidEvents.slice(0, 2).flatMap((name) => [name, name]))
    await provider.deliverAll()
    expect(hook.names().at(-1)).toBe('order.paid')
  })

  test('retries every response other than 2xx', async () => {
    const hook = await listen((count) => (count < 3 ? 500 : 200))
    const { provider, order } = await start({ webhookUrl: hook.url, autoWebhooks: { retries: 5 } })
    provider.pay(order().id, { status: 'authorized' })
    await provider.settled()
    expect(provider.events[0]!.deliveries.map(({ status }) => status)).toEqual([500, 500, 200])
  })

  test('closing cancels waiting deliveries', async () => {
    const hook = await listen()
    const { provider, order } = await start({ webhookUrl: hook.url, autoWebhooks: { delayMs: 60_000 } })
    provider.pay(order().id)
    await provider.close()
    expect(hook.received).toEqual([])
  })
})

import { expect, test } from 'vitest'
import { everyRow } from '../../../test/every-row.ts'
import { type AskedFact, ReadBackError } from './shop-adapter.ts'
import { adapters } from './shops.adapters.ts'

const buyer = 'ada@example.com'
const at = 1_772_619_750_000
const json = JSON.stringify

/** Events that are read back from their shop, with the buyer where the shop names it. */
const bodies: readonly (readonly [kind: 'stripe' | 'paddle' | 'lemonsqueezy' | 'gumroad', body: string])[] = [
  [
    'stripe',
    json({
      ...{ id: 'evt_1', object: 'event', type: 'checkout.session.completed', created: at / 1000 },
      data: {
        object: {
          ...{ id: 'cs_1', payment_intent: { id: 'pi_1', receipt_email: buyer } },
          ...{ customer_email: buyer, customer_details: { email: buyer, name: 'Ada' } },
        },
      },
    }),
  ],
  [
    'stripe',
    json({
      ...{ id: 'evt_2', type: 'customer.subscription.updated', created: at / 1000 },
      data: {
        object: { id: 'sub_1', items: { data: [{ price: { id: 'plus', nickname: buyer } }] } },
        previous_attributes: { items: { data: [{ price: { id: 'pro' } }] }, description: buyer },
      },
    }),
  ],
  [
    'paddle',
    json({
      ...{
        event_id: 'evt_3',
        event_type: 'transaction.completed',
        occurred_at: '2026-03-04T10:22:30.123456Z',
      },
      data: { id: 'txn_1', subscription_id: 'sub_1', customer: { email: buyer }, custom_data: { buyer } },
    }),
  ],
  [
    'lemonsqueezy',
    json({
      meta: { event_name: 'subscription_payment_refunded', custom_data: { buyer } },
      data: {
        id: '7',
        attributes: {
          ...{ subscription_id: 55, total: 1000, refunded_amount: 400 },
          ...{ updated_at: '2026-03-04T10:22:30.000000Z', user_email: buyer },
        },
      },
    }),
  ],
  [
    'gumroad',
    `seller_id=kL0psVL2admJSYRNs-OCMg%3D%3D&sale_id=1&subscription_id=2&email=${encodeURIComponent(buyer)}&test=true`,
  ],
  ['gumroad', `resource_name=cancellation&subscription_id=2&user_email=${encodeURIComponent(buyer)}`],
]

test('what is stored of an event that is read back says the same without its buyer', async () => {
  await everyRow(
    bodies.map(([kind, body], row) => [`${kind} ${row}`, kind, body] as const),
    (_name, kind, body) => {
      const told = adapters[kind].read(body, at)
      if (!told || !('ask' in told)) throw new Error('It is not read back')
      expect(decodeURIComponent(body)).toContain(buyer)
      expect(told.body).not.toContain('ada')
      const again = adapters[kind].read(told.body, at)
      expect(again).toMatchObject({ order: told.order, body: told.body })
    },
  )
})

/** What an event says, with these objects at its shop. */
async function askedOf(
  kind: keyof typeof adapters,
  body: object,
  objects: Record<string, object>,
  { hasKey = true } = {},
) {
  const told = adapters[kind].read(json(body), at)
  if (!told || !('ask' in told)) return told
  const read = async (path: string) => {
    if (!hasKey) throw new ReadBackError('It has no API key.')
    const found = objects[path]
    if (!found) throw new ReadBackError('It answered with the status 404.', 404)
    return found
  }
  return told.ask(Object.assign(read, { isSandbox: false }))
}

const stripeEvent = (type: string, object: object) => ({
  ...{ id: 'evt_1', type, created: at / 1000 },
  data: { object },
})
const charge = (invoice: object | null) => ({
  '/v1/charges/ch_1?expand[]=invoice': {
    ...{ refunded: false, amount_refunded: 0, payment_intent: 'pi_1', invoice },
  },
})
const cycle = { id: 'in_1', subscription: 'sub_1', billing_reason: 'subscription_cycle' }
const inDays = (days: number) => at / 1000 + days * 86_400
const periodLine = (price: string, quantity: number, days: number, more: object = {}) => ({
  ...{ type: 'subscription', price: { id: price }, quantity, amount: 100, ...more },
  period: { start: inDays(0), end: inDays(days) },
})
const proration = (quantity: number, amount: number, begin: number) => ({
  ...{ type: 'invoiceitem', proration: true, price: { id: 'pro' }, quantity, amount },
  period: { start: inDays(begin), end: inDays(30) },
})

const disputes: readonly [status: string, kind: string][] = [
  ['warning_needs_response', 'warned'],
  ['warning_under_review', 'warned'],
  ['warning_closed', 'dispute_won'],
  ['needs_response', 'disputed'],
  ['under_review', 'disputed'],
  ['lost', 'disputed'],
  ['won', 'dispute_won'],
  ['prevented', 'dispute_won'],
  ['a status of later', 'warned'],
]

test('Stripe: a dispute takes a payment with the money alone, and a lost one keeps it', async () => {
  await everyRow(disputes, async (status, kind) => {
    for (const name of ['created', 'updated', 'funds_withdrawn', 'funds_reinstated', 'closed']) {
      const event = stripeEvent(`charge.dispute.${name}`, { id: 'dp_1' })
      const objects = { '/v1/disputes/dp_1': { status, charge: 'ch_1' }, ...charge(cycle) }
      expect(await askedOf('stripe', event, objects)).toMatchObject({
        ...{ kind, order: 'sub_1', payment: 'in_1', dispute: 'dp_1' },
      })
    }
  })
})

test('Stripe: fraud warnings and reviews warn of the payment that they name', async () => {
  const rows = [
    ['radar.early_fraud_warning.created', 'warned'],
    ['review.opened', 'warned'],
    ['review.closed', 'dispute_won'],
  ] as const
  for (const [type, kind] of rows) {
    const event = stripeEvent(type, { id: 'prv_1', charge: 'ch_1' })
    const fact = { kind, order: 'pi_1', payment: 'pi_1', dispute: 'prv_1' }
    expect(await askedOf('stripe', event, charge(null))).toMatchObject(fact)
  }
})

const failures: readonly [reason: string | undefined, isPeriod: boolean][] = [
  ['subscription_cycle', true],
  ['subscription_create', true],
  [undefined, true],
  ['subscription_update', false],
  ['subscription_threshold', false],
  ['manual', false],
  ['automatic_pending_invoice_item_invoice', false],
]

test('Stripe: a failed payment ends the period that its invoice is for, and nothing else', async () => {
  for (const [billing_reason, isPeriod] of failures) {
    const objects = { '/v1/invoices/in_1': { ...cycle, billing_reason } }
    const fact = await askedOf('stripe', stripeEvent('invoice.payment_failed', { id: 'in_1' }), objects)
    expect([billing_reason, fact?.kind]).toEqual([billing_reason, isPeriod ? 'payment_failed' : undefined])
  }
})

const invoices: readonly [name: string, lines: object[], expected: object | undefined][] = [
  ['a period', [periodLine('pro', 5, 30)], { lines: [{ product: 'pro', quantity: 5 }] }],
  [
    'a change within a period, of which the last state counts',
    [proration(1, -100, 1), proration(5, 500, 1), proration(5, -400, 2), proration(3, 300, 2)],
    { lines: [{ product: 'pro', quantity: 3 }], isPart: true },
  ],
  [
    'a period with a change of the period before',
    [proration(9, 900, 1), periodLine('pro', 4, 60)],
    { lines: [{ product: 'pro', quantity: 4 }] },
  ],
  [
    'a metered price, which counts once',
    [periodLine('calls', 1234, 30, { price: { id: 'calls', recurring: { usage_type: 'metered' } } })],
    { lines: [{ product: 'calls', quantity: 1 }] },
  ],
]

test('Stripe: a paid invoice says how many units it contains', async () => {
  await everyRow(invoices, async (_name, data, expected) => {
    const objects = {
      '/v1/invoices/in_1': { ...cycle, lines: { data } },
      '/v1/subscriptions/sub_1': {
        ...{ status: 'active', current_period_end: inDays(30) },
        items: { data: [{ price: { id: 'pro' }, quantity: 5 }] },
      },
    }
    const fact = await askedOf('stripe', stripeEvent('invoice.paid', { id: 'in_1' }), objects)
    expect(fact).toMatchObject({ kind: 'renewed', payment: 'in_1', ...expected })
  })
})

test('Stripe: hears of another quantity in the portal, and of no renewal twice', async () => {
  const items = (quantity: number) => ({ data: [{ price: { id: 'pro' }, quantity }] })
  const objects = {
    '/v1/subscriptions/sub_1': { status: 'active', current_period_end: inDays(30), items: items(5) },
  }
  const updated = (before: number) => ({
    ...{ id: 'evt_1', type: 'customer.subscription.updated', created: at / 1000 },
    data: { object: { id: 'sub_1', items: items(5) }, previous_attributes: { items: items(before) } },
  })
  const lines = [{ product: 'pro', quantity: 5 }]
  expect(await askedOf('stripe', updated(1), objects)).toMatchObject({ kind: 'changed', lines, pays: false })
  expect(await askedOf('stripe', updated(5), objects)).toBeUndefined()
})

test('a subscription that is canceled for the end of its period will not charge again, unless it is resumed', async () => {
  const ending = at / 1000 + 86_400
  const stripe = (read: object, before: object) =>
    askedOf(
      'stripe',
      {
        ...{ id: 'evt_1', type: 'customer.subscription.updated', created: at / 1000 },
        data: { object: { id: 'sub_1' }, previous_attributes: before },
      },
      {
        '/v1/subscriptions/sub_1': {
          ...{ status: 'active', current_period_end: ending, ...read },
          items: { data: [{ price: { id: 'pro' }, quantity: 1 }] },
        },
      },
    )
  const [atEnd, dated] = [{ cancel_at_period_end: true }, { cancel_at: ending }]
  expect(await stripe(atEnd, { cancel_at_period_end: false })).toMatchObject({ kind: 'canceled' })
  expect(await stripe(dated, { cancel_at: null })).toMatchObject({ kind: 'canceled', order: 'sub_1' })
  expect(await stripe({ cancel_at: ending + 1 }, { cancel_at: null })).toMatchObject({ kind: 'resumed' })
  expect(await stripe({}, { cancel_at_period_end: true })).toMatchObject({ kind: 'resumed' })
  expect(await stripe({ ...atEnd, status: 'past_due' }, { cancel_at: null })).toBeUndefined()
  expect(await stripe(atEnd, { description: 'x' })).toBeUndefined()
  const paddle = (scheduled_change: object | null) =>
    askedOf(
      'paddle',
      { event_id: 'evt_2', event_type: 'subscription.updated', occurred_at: told, data: { id: 'sub_1' } },
      {
        '/subscriptions/sub_1': {
          data: {
            ...{ status: 'active', current_billing_period: { ends_at: later }, scheduled_change },
            items: [{ price: { id: 'pro' }, quantity: 1 }],
          },
        },
      },
    )
  const [told, later] = [new Date(at).toISOString(), new Date(ending * 1000).toISOString()]
  for (const action of ['cancel', 'pause'])
    expect(await paddle({ action, effective_at: later })).toMatchObject({ kind: 'changed', cancels: true })
  for (const other of [null, { action: 'resume', effective_at: later }])
    expect(await paddle(other)).not.toHaveProperty('cancels')
  const pinged = (subscriber: object, name = 'cancellation') => {
    const read = adapters.gumroad.read(`resource_name=${name}&subscription_id=2`, at) as AskedFact
    return read.ask(Object.assign(async () => ({ success: true, subscriber }), { isSandbox: false }))
  }
  expect(await pinged({ cancelled_at: later })).toMatchObject({ kind: 'canceled', order: '2', at })
  expect(await pinged({ cancelled_at: told })).toMatchObject({ kind: 'ended' })
  const restarted = 'subscription_restarted'
  expect(await pinged({ cancelled_at: null }, restarted)).toMatchObject({ kind: 'resumed', order: '2', at })
  // It was canceled again meanwhile.
  expect(await pinged({ cancelled_at: later }, restarted)).toMatchObject({ kind: 'canceled' })
})

const adjustments: readonly [
  name: string,
  adjustments: [action: string, status: string][],
  kind: string | undefined,
][] = [
  ['a refund that waits for approval', [['refund', 'pending_approval']], 'warned'],
  ['a rejected refund', [['refund', 'rejected']], 'dispute_won'],
  ['an approved refund', [['refund', 'approved']], 'refunded'],
  ['a credit', [['credit', 'approved']], undefined],
  ['a warning of a chargeback', [['chargeback_warning', 'approved']], 'warned'],
  [
    'a warning that is over',
    [
      ['chargeback_warning', 'approved'],
      ['chargeback_warning_reverse', 'approved'],
    ],
    'dispute_won',
  ],
  [
    'a chargeback after its warning',
    [
      ['chargeback_warning', 'approved'],
      ['chargeback', 'approved'],
    ],
    'disputed',
  ],
  ['a chargeback that waits for approval', [['chargeback', 'pending_approval']], 'warned'],
  ['a chargeback that is reversed', [['chargeback', 'reversed']], 'dispute_won'],
  [
    'one of two chargebacks that is reversed',
    [
      ['chargeback', 'approved'],
      ['chargeback', 'approved'],
      ['chargeback_reverse', 'approved'],
    ],
    'disputed',
  ],
]

test('Paddle: an adjustment takes a payment once it is approved, and a warning never', async () => {
  await everyRow(adjustments, async (_name, all, kind) => {
    const listed = all.map(([action, status], n) => ({
      ...{ id: `adj_${n}`, action, status, type: 'full', totals: { total: '1000' } },
    }))
    const transaction = {
      ...{ id: 'txn_1', status: 'completed', origin: 'subscription_recurring', subscription_id: 'sub_1' },
      ...{ currency_code: 'USD', billing_period: null, items: [], adjustments: listed },
      details: { totals: { grand_total: '1000' } },
    }
    const event = {
      ...{ event_id: 'evt_1', event_type: 'adjustment.updated', occurred_at: '2026-03-04T10:22:30Z' },
      data: { id: listed.at(-1)!.id, transaction_id: 'txn_1' },
    }
    const path = '/transactions/txn_1?include=customer,adjustments'
    const fact = await askedOf('paddle', event, { [path]: { data: transaction } })
    expect(fact?.kind).toBe(kind)
    if (kind) expect(fact).toMatchObject({ order: 'sub_1', payment: 'txn_1' })
  })
})

test('Paddle and Lemon Squeezy: a payment for a change that failed ends nothing', async () => {
  const pastDue = {
    ...{ event_id: 'evt_1', event_type: 'subscription.past_due', occurred_at: '2026-03-04T10:22:30Z' },
    data: { id: 'sub_1' },
  }
  const path = '/transactions?subscription_id=sub_1&status=past_due'
  const overdue = (...origins: string[]) => ({
    [path]: { data: origins.map((origin) => ({ id: 'txn_1', origin })) },
  })
  const kindOf = async (objects: Record<string, object>) => (await askedOf('paddle', pastDue, objects))?.kind
  expect(await kindOf(overdue('subscription_update'))).toBeUndefined()
  expect(await kindOf(overdue('subscription_charge'))).toBeUndefined()
  expect(await kindOf(overdue('subscription_update', 'subscription_recurring'))).toBe('payment_failed')
  expect(await kindOf(overdue())).toBe('payment_failed')
  expect(await kindOf({})).toBe('payment_failed')
  const lemon = {
    meta: { event_name: 'subscription_updated' },
    data: {
      id: '55',
      attributes: { order_id: 1, variant_id: 2, status: 'past_due', updated_at: '2026-03-04T10:22:30Z' },
    },
  }
  const owed = (...reasons: string[]) => ({
    '/v1/subscription-invoices?filter[subscription_id]=55&filter[status]=pending': {
      data: reasons.map((billing_reason) => ({ attributes: { billing_reason } })),
    },
  })
  expect(await askedOf('lemonsqueezy', lemon, owed('updated'))).toBeUndefined()
  expect(await askedOf('lemonsqueezy', lemon, owed('renewal'))).toMatchObject({ kind: 'payment_failed' })
  expect(await askedOf('lemonsqueezy', lemon, {}, { hasKey: false })).toMatchObject({
    kind: 'payment_failed',
  })
})

test('Lemon Squeezy: units that are paid at once are told by their bill, where it can be read', async () => {
  const bill = (billing_reason: string) => ({
    meta: { event_name: 'subscription_payment_success' },
    data: {
      id: '7',
      attributes: { subscription_id: 55, billing_reason, total: 900, updated_at: '2026-03-04T10:22:30Z' },
    },
  })
  const attributes = {
    ...{ order_id: 1, variant_id: 2, renews_at: '2026-04-01T00:00:00Z' },
    first_subscription_item: { quantity: 5 },
  }
  const objects = { '/v1/subscriptions/55': { data: { attributes } } }
  expect(await askedOf('lemonsqueezy', bill('updated'), objects)).toMatchObject({
    ...{ kind: 'renewed', order: '1', payment: 'invoice 7', amount: 900 },
    lines: [{ product: '2', quantity: 5 }],
  })
  expect(await askedOf('lemonsqueezy', bill('updated'), objects, { hasKey: false })).toBeUndefined()
  expect(await askedOf('lemonsqueezy', bill('renewal'), objects)).toBeUndefined()
})

const reference = 'kwr_AaIqJaprcIm-aNuvMoD4DNm8mztHPC5UyxFk'
const session = {
  ...{ payment_status: 'paid', payment_intent: 'pi_1', invoice: null, subscription: null, livemode: true },
  client_reference_id: reference,
}
const transaction = {
  ...{ id: 'txn_1', status: 'completed', origin: 'web', currency_code: 'EUR', billing_period: null },
  ...{ items: [{ price: { id: 'pri_1' }, quantity: 1 }], details: { totals: { grand_total: '100' } } },
  custom_data: { reference, other: { a: 1 } },
}
const soldOnGumroad = {
  ...{ id: '1', seller_id: 'seller', product_id: 'pro', price: 100, created_at: '2026-03-04T10:22:30Z' },
}
const soldOnLemonSqueezy = {
  ...{ status: 'paid', total: 100, currency: 'EUR', first_order_item: { variant_id: 1, quantity: 1 } },
  ...{ created_at: '2026-03-04T10:22:30.000000Z', updated_at: '2026-03-04T10:22:30.000000Z' },
}

test.each<[kind: keyof typeof adapters, body: string, answers: Record<string, unknown>]>([
  [
    'custom',
    json({ type: 'order.paid', data: { order: '1', reference, lines: [{ product: 'pro', quantity: 1 }] } }),
    {},
  ],
  [
    'stripe',
    bodies[0]![1],
    {
      '/v1/checkout/sessions/cs_1': session,
      '/v1/checkout/sessions/cs_1/line_items?limit=100': {
        data: [{ quantity: 1, price: { id: 'price_1' } }],
      },
    },
  ],
  ['paddle', bodies[2]![1], { '/transactions/txn_1?include=customer,adjustments': { data: transaction } }],
  [
    'lemonsqueezy',
    json({
      meta: { event_name: 'order_created', custom_data: { reference } },
      data: { id: '7', attributes: soldOnLemonSqueezy },
    }),
    {},
  ],
  [
    'gumroad',
    `seller_id=seller&sale_id=1&url_params%5Breference%5D=${reference}`,
    { '/v2/sales/1': { success: true, sale: soldOnGumroad } },
  ],
])('an order of %s says which license it is for', async (kind, body, answers) => {
  const told = adapters[kind].read(body, at)
  const readBack = Object.assign((path: string) => Promise.resolve(answers[path]), { isSandbox: false })
  // What is asked for is read from what was stored.
  const stored = told && 'ask' in told ? adapters[kind].read(told.body, at) : told
  const fact = stored && 'ask' in stored ? await stored.ask(readBack) : stored
  expect(fact).toMatchObject({ kind: 'paid', reference })
})

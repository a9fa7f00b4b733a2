import { describe, expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import { makeApp, refusal, signUp, wrongFields } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { times } from '../rounds.ts'
import { allUsed, makeShop, makeType, orderOnce, ordersOf, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'

const on = serverForAll({ DEFAULT_PLAN: 'free' })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const shopWithPro = async (wanted: object = {}) => {
  const type = await makeType(owner, app._id, wanted)
  return { ...(await makeShop(owner, app._id, [{ product: 'pro', type }])), type }
}
const licenseOf = async (order: { licenses: { _id: string }[] }) =>
  (await owner.call('GET', `/licenses/${order.licenses[0]?._id}`)).json.data.license
const about = (type: string, order: string, more: object = {}) => ({ type, data: { order, ...more } })

describe('an order', () => {
  test('creates one license per unit and line, with the type of its product', async () => {
    const pro = await makeType(owner, app._id, { devices: 3, keyPrefix: 'PRO' })
    const team = await makeType(owner, app._id)
    const shop = await makeShop(owner, app._id, [
      { product: 'pro', type: pro },
      { product: 'team', type: team, quantity: 5 },
      { product: 'shirt', type: null },
    ])
    const lines = [
      { product: 'pro', quantity: 2 },
      { product: 'team', quantity: 1 },
      { product: 'shirt', quantity: 3 },
    ]
    await sell(on, shop, paid('lines-1', { lines, amount: 4900, currency: 'eur', name: 'Ada' }))
    const order = await orderOnce(owner, 'lines-1', { state: 'fulfilled' })
    expect(order).toMatchObject({ amount: 4900, currency: 'EUR', name: 'Ada', test: false, reason: null })
    expect(order.licenses).toHaveLength(7)
    const { customer_id } = await on.database.db
      .selectFrom('licenses')
      .select('customer_id')
      .where('id', '=', order.licenses[6]._id)
      .executeTakeFirstOrThrow()
    expect(customer_id).toBe(order.customer)
    expect(order.customer).toMatch(/^cus_/)
    expect(order.licenses.filter(({ key }: { key: string }) => key.startsWith('PRO-'))).toHaveLength(2)
    expect(await licenseOf(order)).toMatchObject({ devices: 3, type: { _id: pro } })
    expect(await ordersOf(owner, `license=${order.licenses[6]._id}`)).toEqual([order])
  })

  test('is created once by 32 concurrent repeats of one event and by further events about it', async () => {
    const shop = await shopWithPro()
    await times(32, () => sell(on, shop, { ...paid('once-1'), id: 'msg_once' }))
    await times(8, () => sell(on, shop, paid('once-1')))
    await allUsed(on, shop._id)
    const order = await orderOnce(owner, 'once-1', { state: 'fulfilled' })
    expect(order.licenses).toHaveLength(1)
  })

  test('is banned by a refund for good, and by a dispute until it is won', async () => {
    const shop = await shopWithPro()
    await sell(on, shop, paid('refund-1'))
    await sell(on, shop, paid('dispute-1'))
    await sell(on, shop, about('order.refunded', 'refund-1'))
    await sell(on, shop, about('order.disputed', 'dispute-1'))
    const refunded = await orderOnce(owner, 'refund-1', { state: 'refunded' })
    expect(await licenseOf(refunded)).toMatchObject({ banned: true, banReason: 'The order was refunded' })
    const disputed = await orderOnce(owner, 'dispute-1', { state: 'disputed' })
    expect(await licenseOf(disputed)).toMatchObject({ banned: true, banReason: 'The payment is disputed' })
    on.clock.advance(minute)
    await sell(on, shop, about('order.dispute_won', 'dispute-1'))
    await sell(on, shop, about('order.dispute_won', 'refund-1'))
    await allUsed(on, shop._id)
    expect(await licenseOf(await orderOnce(owner, 'dispute-1', { state: 'fulfilled' }))).toMatchObject({
      banned: false,
    })
    expect(await licenseOf(await orderOnce(owner, 'refund-1', { state: 'refunded' }))).toMatchObject({
      banned: true,
    })
  })

  test('lifts its own ban only: a ban by the vendor stays', async () => {
    const shop = await shopWithPro()
    await sell(on, shop, paid('own-ban'))
    const order = await orderOnce(owner, 'own-ban', { state: 'fulfilled' })
    const path = `/licenses/${order.licenses[0]._id}/toggle-ban`
    await owner.call('PATCH', path, { is_banned: true, reason: 'Shared key' })
    await sell(on, shop, about('order.disputed', 'own-ban'))
    await orderOnce(owner, 'own-ban', { state: 'disputed' })
    on.clock.advance(minute)
    await sell(on, shop, about('order.dispute_won', 'own-ban'))
    await orderOnce(owner, 'own-ban', { state: 'fulfilled' })
    expect(await licenseOf(order)).toMatchObject({ banned: true, banReason: 'Shared key' })
  })

  test('waits for the owner after a partial refund, who keeps the licenses; the rest of the amount bans them', async () => {
    const shop = await shopWithPro()
    await sell(on, shop, paid('partial', { amount: 1000, currency: 'EUR' }))
    await sell(on, shop, about('order.refunded', 'partial', { amount: 400 }))
    const order = await orderOnce(owner, 'partial', {
      state: 'waiting',
      reason: 'A part was refunded: ban its licenses or keep them',
    })
    expect(await licenseOf(order)).toMatchObject({ banned: false })
    const kept = await owner.call('POST', `/orders/${order._id}/retry`)
    expect(kept.json.data.order).toMatchObject({ state: 'fulfilled', reason: null })
    expect(refusal(await owner.call('POST', `/orders/${order._id}/retry`))).toBe('order_not_waiting')
    await sell(on, shop, about('order.refunded', 'partial', { amount: 600 }))
    await orderOnce(owner, 'partial', { state: 'refunded' })
    expect(await licenseOf(order)).toMatchObject({ banned: true })
  })

  test('without an address waits until the vendor enters it, which mails the keys, or hands them over', async () => {
    const shop = await shopWithPro()
    const reason = expect.stringContaining('no address that mail can reach')
    const wrong = [
      '',
      null,
      'none',
      'ada@',
      'ada@localhost',
      7,
      ['ada@example.com'],
      `${'a'.repeat(300)}@b.de`,
    ]
    for (const [at, email] of wrong.entries()) {
      expect(await sell(on, shop, paid(`mute-${at}`, { email }))).toBe(200)
      const waiting = await orderOnce(owner, `mute-${at}`, {
        ...{ state: 'waiting', reason, reasonCode: 'no_address', choices: ['keep'], mail: 'none' },
      })
      expect([email, waiting.licenses.length, waiting.customer]).toEqual([email, 1, null])
    }
    const [first, second] = [
      await orderOnce(owner, 'mute-0', { state: 'waiting' }),
      await orderOnce(owner, 'mute-1', { state: 'waiting' }),
    ]
    expect(wrongFields(await owner.call('PUT', `/orders/${first._id}`, { email: 'none' }))).toEqual(['email'])
    await owner.call('PUT', `/orders/${first._id}`, { email: 'Late@Example.com' })
    const mailed = await orderOnce(owner, 'mute-0', { state: 'fulfilled', reason: null, mail: 'failed' })
    expect(mailed).toMatchObject({ email: 'Late@Example.com', customer: expect.stringMatching(/^cus_/) })
    expect((await licenseOf(mailed)).customer).toBe(mailed.customer)
    expect(refusal(await owner.call('PUT', `/orders/${first._id}`, { email: 'b@example.com' }))).toBe(
      'order_has_customer',
    )
    // What the shop tells later keeps the address.
    await sell(on, shop, about('subscription.renewed', 'mute-0', { until: on.clock.inDays(60) }))
    await allUsed(on, shop._id)
    expect(await orderOnce(owner, 'mute-0', { state: 'fulfilled' })).toMatchObject({
      email: 'Late@Example.com',
    })
    const handed = await owner.call('POST', `/orders/${second._id}/retry`)
    expect(handed.json.data.order).toMatchObject({ state: 'fulfilled', reason: null, mail: 'none' })
    await sell(on, shop, about('subscription.renewed', 'mute-1', { until: on.clock.inDays(60) }))
    await allUsed(on, shop._id)
    expect(await orderOnce(owner, 'mute-1', { state: 'fulfilled' })).toMatchObject({ reason: null })
  })

  test('needs no address for a test, for a product without licenses, and once it is refunded', async () => {
    const type = await makeType(owner, app._id)
    const shop = await makeShop(owner, app._id, [
      { product: 'pro', type },
      { product: 'shirt', type: null },
    ])
    await sell(on, shop, paid('mute-test', { email: null, test: true }))
    await sell(on, shop, paid('mute-shirt', { email: null, lines: [{ product: 'shirt', quantity: 1 }] }))
    await sell(on, shop, paid('mute-refund', { email: null }))
    await sell(on, shop, about('order.refunded', 'mute-refund'))
    const test = await orderOnce(owner, 'mute-test', { state: 'fulfilled' })
    await orderOnce(owner, 'mute-shirt', { state: 'fulfilled' })
    await orderOnce(owner, 'mute-refund', { state: 'refunded' })
    const body = { email: 'ada@example.com' }
    expect(refusal(await owner.call('PUT', `/orders/${test._id}`, body))).toBe('order_without_mail')
  })

  test('is refused for nothing that its texts and numbers look like', async () => {
    const shop = await shopWithPro()
    const long = `${'9'.repeat(150)}${'x'.repeat(150)}`
    const cases: [string, object, object][] = [
      ['name-nul', { name: 'A\u0000da\u202e\ud800' }, { name: expect.stringMatching(/^A da$/) }],
      ['name-long', { name: 'x'.repeat(5000) }, { name: 'x'.repeat(200) }],
      ['name-none', { name: null, locale: null, currency: null, amount: null, test: null }, { name: null }],
      ['name-other', { name: { first: 'Ada' } }, { name: null }],
      ['umlaut', { email: 'Jürgen@MÜNCHEN.example' }, { email: 'Jürgen@münchen.example' }],
      ['money', { amount: '4900', currency: 'e\u0000' }, { amount: 4900, currency: null }],
      ['money-odd', { amount: -1, currency: 'Euro €' }, { amount: null, currency: null }],
      ['flags', { test: '1', locale: 'x'.repeat(500) }, { test: true }],
      [
        'text-units',
        { lines: [{ product: 'pro', quantity: '2' }] },
        { lines: [{ product: 'pro', quantity: 2 }] },
      ],
    ]
    for (const [number, wanted, expected] of cases) {
      expect([number, await sell(on, shop, paid(number, wanted))]).toEqual([number, 200])
      await orderOnce(owner, number, { state: 'fulfilled', ...expected })
    }
    const waits: [string, object, object][] = [
      [
        '150 units',
        { lines: [{ product: 'pro', quantity: 150 }] },
        { reason: 'An order can create at most 100 licenses' },
      ],
      [
        '1e12 units',
        { lines: [{ product: 'pro', quantity: 1e12 }] },
        { reason: 'An order can create at most 100 licenses' },
      ],
      ['no lines', { lines: [] }, { reason: 'The shop names no product of this order' }],
      ['null lines', { lines: null }, { reason: 'The shop names no product of this order' }],
      [
        'returned',
        { lines: [{ product: 'pro', quantity: -1 }] },
        { reason: 'The shop names no product of this order' },
      ],
      [
        'unnamed',
        { lines: [{ quantity: 1 }] },
        { reason: 'No license type is chosen for the product “(without a name)”' },
      ],
      [
        'strange',
        { lines: [{ product: 'p\u0000ro' }] },
        { reason: 'No license type is chosen for the product “p ro”' },
      ],
      [
        'many',
        { lines: Array(101).fill({ product: 'pro' }) },
        { reason: 'No license type is chosen for the product “(more products)”' },
      ],
    ]
    for (const [number, wanted, expected] of waits) {
      expect([number, await sell(on, shop, paid(number, wanted))]).toEqual([number, 200])
      await orderOnce(owner, number, { state: 'waiting', ...expected })
    }
    const event = { ...paid('odd-time'), timestamp: 'today' }
    expect(await sell(on, shop, event)).toBe(200)
    await orderOnce(owner, 'odd-time', { state: 'fulfilled' })
    for (const order of [4711, long, `nul\u0000${long}`]) {
      expect(await sell(on, shop, { type: 'order.paid', data: { ...paid('').data, order } })).toBe(200)
      expect(await sell(on, shop, { type: 'order.refunded', data: { order } })).toBe(200)
    }
    await allUsed(on, shop._id)
    expect(await ordersOf(owner, `shop=${shop._id}&state=refunded`)).toHaveLength(3)
  })

  test('of an unknown product waits with its reason, and is picked up once the product gets a type', async () => {
    const shop = await makeShop(owner, app._id)
    await sell(on, shop, paid('unknown-1'))
    await orderOnce(owner, 'unknown-1', {
      state: 'waiting',
      reason: 'No license type is chosen for the product “pro”',
      licenses: [],
    })
    const products = [{ product: 'pro', type: await makeType(owner, app._id) }]
    await owner.call('PUT', `/shops/${shop._id}`, { products })
    const order = await orderOnce(owner, 'unknown-1', { state: 'fulfilled', reason: null })
    expect(order.licenses).toHaveLength(1)
  })

  test('of a product whose type was deleted waits, and is tried again on request', async () => {
    const shop = await shopWithPro()
    await owner.call('DELETE', `/license-types/${shop.type}`)
    await sell(on, shop, paid('gone-1'))
    const order = await orderOnce(owner, 'gone-1', {
      state: 'waiting',
      reason: 'The license type of the product “pro” was deleted',
    })
    const again = await owner.call('POST', `/orders/${order._id}/retry`)
    expect(again.json.data.order.state).toBe('waiting')
  })

  test('waits for itself if its refund arrives first', async () => {
    const shop = await shopWithPro()
    await sell(on, shop, about('order.refunded', 'early'))
    await orderOnce(owner, 'early', {
      state: 'waiting',
      reason: 'The order itself has not arrived yet',
      email: null,
    })
    await sell(on, shop, paid('early'))
    const order = await orderOnce(owner, 'early', { state: 'refunded' })
    expect(await licenseOf(order)).toMatchObject({ banned: true })
  })

  test('waits at the limit of the plan', async () => {
    const free = await signUp(on)
    const { _id } = await makeApp(free)
    const type = await makeType(free, _id)
    const shop = await makeShop(free, _id, [{ product: 'pro', type }])
    await sell(on, shop, paid('limit-1', { lines: [{ product: 'pro', quantity: 30 }] }))
    await sell(on, shop, paid('limit-2'))
    await allUsed(on, shop._id)
    const found = await ordersOf(free, '')
    expect(found.map(({ state }: { state: string }) => state).toSorted()).toEqual(['fulfilled', 'waiting'])
  })

  test('of a subscription follows renewals, a failed payment, a change of product and its end', async () => {
    const basic = await makeType(owner, app._id, { graceDays: 7 })
    const plus = await makeType(owner, app._id, { devices: 9, graceDays: 3 })
    const shop = await makeShop(owner, app._id, [
      { product: 'pro', type: basic },
      { product: 'plus', type: plus },
    ])
    const at = (days: number) => on.clock.inDays(days)
    await sell(on, shop, paid('sub-1'))
    await sell(on, shop, about('subscription.renewed', 'sub-1', { until: at(30) }))
    await allUsed(on, shop._id)
    const order = await orderOnce(owner, 'sub-1', { state: 'fulfilled' })
    expect(await licenseOf(order)).toMatchObject({ expiresAt: at(30), inGrace: false })
    await sell(on, shop, { ...about('subscription.payment_failed', 'sub-1'), timestamp: at(0) })
    await allUsed(on, shop._id)
    expect(await licenseOf(order)).toMatchObject({ expiresAt: at(0) })
    on.clock.advance(minute)
    expect(await licenseOf(order)).toMatchObject({ inGrace: true })
    const until = at(60)
    await sell(on, shop, about('subscription.changed', 'sub-1', { product: 'plus', until }))
    await allUsed(on, shop._id)
    expect(await licenseOf(order)).toMatchObject({ expiresAt: until, devices: 9, type: { _id: plus } })
    const later = { expiresAt: at(365) }
    await owner.call('PUT', `/licenses/${order.licenses[0]._id}`, later)
    await sell(on, shop, about('order.dispute_won', 'sub-1'))
    await allUsed(on, shop._id)
    expect(await licenseOf(order)).toMatchObject(later)
    on.clock.advance(minute)
    await sell(on, shop, { ...about('subscription.ended', 'sub-1'), timestamp: at(0) })
    await allUsed(on, shop._id)
    expect(await licenseOf(order)).toMatchObject({ expiresAt: at(0) })
  })

  test('does not come back for a license that the vendor deleted', async () => {
    const shop = await shopWithPro()
    await sell(on, shop, paid('removed-1'))
    const order = await orderOnce(owner, 'removed-1', { state: 'fulfilled' })
    await owner.call('DELETE', `/licenses/${order.licenses[0]._id}`)
    await sell(on, shop, about('subscription.renewed', 'removed-1', { until: on.clock.inDays(30) }))
    await sell(on, shop, about('order.refunded', 'removed-1'))
    expect((await orderOnce(owner, 'removed-1', { state: 'refunded' })).licenses).toEqual([])
  })
})

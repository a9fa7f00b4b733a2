// On PostgreSQL in the full run: other slices send nearly all of its statements there.
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
    const order = await orderOnce(owner, 'removed-1', { state: 'fulfilled', deletedLicenses: 0 })
    await owner.call('DELETE', `/licenses/${order.licenses[0]._id}`)
    await orderOnce(owner, 'removed-1', { state: 'fulfilled', licenses: [], deletedLicenses: 1 })
    await sell(on, shop, about('subscription.renewed', 'removed-1', { until: on.clock.inDays(30) }))
    await sell(on, shop, about('order.refunded', 'removed-1'))
    expect((await orderOnce(owner, 'removed-1', { state: 'refunded' })).licenses).toEqual([])
  })

  test('of several payments loses what one of them gave, and is banned once none stands', async () => {
    const shop = await shopWithPro()
    const at = (days: number) => on.clock.inDays(days)
    const tell = async (type: string, more: object, minutes: number) => {
      const timestamp = new Date(on.clock.now() + minutes * minute).toISOString()
      expect(await sell(on, shop, { type, timestamp, data: { order: 'paid-twice', ...more } })).toBe(200)
      await allUsed(on, shop._id)
    }
    const { data } = paid('paid-twice', { payment: 'p1', amount: 1900, currency: 'EUR' })
    await tell('order.paid', data, 0)
    await tell('subscription.renewed', { until: at(30), payment: 'p1' }, 1)
    await tell('subscription.renewed', { until: at(60), payment: 'p2', amount: 1900, currency: 'EUR' }, 2)
    const order = await orderOnce(owner, 'paid-twice', { state: 'fulfilled' })
    await tell('order.refunded', { payment: 'p2', amount: 1900 }, 3)
    await orderOnce(owner, 'paid-twice', { state: 'fulfilled' })
    expect(await licenseOf(order)).toMatchObject({ banned: false, expiresAt: at(30) })
    await tell('order.disputed', { payment: 'p1', dispute: 'd1' }, 4)
    await tell('order.disputed', { payment: 'p1', dispute: 'd2' }, 5)
    await tell('order.dispute_won', { payment: 'p1', dispute: 'd1' }, 6)
    await orderOnce(owner, 'paid-twice', { state: 'disputed' })
    expect(await licenseOf(order)).toMatchObject({ banned: true, expiresAt: at(30) })
    await tell('subscription.renewed', { until: at(90), payment: 'p3' }, 7)
    await orderOnce(owner, 'paid-twice', { state: 'fulfilled' })
    expect(await licenseOf(order)).toMatchObject({ banned: false, expiresAt: at(90) })
    // The bill of something else, and a shorter time that was told later.
    await tell('subscription.payment_failed', { payment: 'upgrade' }, 8)
    expect(await licenseOf(order)).toMatchObject({ expiresAt: at(90) })
    await tell('subscription.renewed', { until: at(45), payment: 'p4' }, 9)
    expect(await licenseOf(order)).toMatchObject({ expiresAt: at(45) })
  })

  test('of a renewal that was refunded gets the end of its type back', async () => {
    const shop = await shopWithPro({ term: 'date', duration: { value: 10, unit: 'days' } })
    await sell(on, shop, paid('no-end', { payment: 'p1' }))
    const order = await orderOnce(owner, 'no-end', { state: 'fulfilled' })
    const { expiresAt } = await licenseOf(order)
    const until = on.clock.inDays(60)
    await sell(on, shop, about('subscription.renewed', 'no-end', { until, payment: 'p2' }))
    await allUsed(on, shop._id)
    expect(await licenseOf(order)).toMatchObject({ expiresAt: until })
    await sell(on, shop, about('order.refunded', 'no-end', { payment: 'p2' }))
    await allUsed(on, shop._id)
    expect(await licenseOf(order)).toMatchObject({ banned: false, expiresAt })
  })

  test('whose part was refunded is kept or banned as its vendor chooses, and takes no other choice', async () => {
    const shop = await shopWithPro()
    const retry = (id: string, body?: object) => owner.call('POST', `/orders/${id}/retry`, body)
    for (const number of ['choose-keep', 'choose-ban']) {
      await sell(on, shop, paid(number, { amount: 1000, payment: 'p1' }))
      await sell(on, shop, about('order.refunded', number, { amount: 400, payment: 'p1' }))
    }
    const waiting = { state: 'waiting', reasonCode: 'partly_refunded', choices: ['keep', 'ban'] }
    const [kept, banned] = [
      await orderOnce(owner, 'choose-keep', waiting),
      await orderOnce(owner, 'choose-ban', waiting),
    ]
    const wrong = [
      { choice: 'end', licenses: [kept.licenses[0]._id] },
      { choice: 'replace' },
      { choice: 'newLicense' },
      { choice: 'keep', licenses: [kept.licenses[0]._id] },
      { licenses: [kept.licenses[0]._id] },
    ]
    for (const body of wrong) expect(refusal(await retry(kept._id, body))).toBe('order_choice_invalid')
    expect((await retry(kept._id, { choice: 'sell' })).status).toBe(400)
    const none = { reason: null, reasonCode: null, choices: [] }
    expect((await retry(kept._id, { choice: 'keep' })).json.data.order).toMatchObject({
      ...{ state: 'fulfilled', ...none },
    })
    expect((await retry(banned._id, { choice: 'ban' })).json.data.order).toMatchObject({
      ...{ state: 'refunded', ...none },
    })
    expect(await licenseOf(kept)).toMatchObject({ banned: false })
    expect(await licenseOf(banned)).toMatchObject({ banned: true })
    // The next payment counts.
    on.clock.advance(minute)
    const renewal = { until: on.clock.inDays(30), payment: 'p2' }
    await sell(on, shop, about('subscription.renewed', 'choose-ban', renewal))
    await orderOnce(owner, 'choose-ban', { state: 'fulfilled' })
    expect(await licenseOf(banned)).toMatchObject({ banned: false })
  })

  test('of more units gets more licenses, and of fewer ones waits until its vendor chooses which end', async () => {
    const shop = await shopWithPro()
    const at = (days: number) => on.clock.inDays(days)
    const changed = (quantity: number) =>
      sell(on, shop, about('subscription.changed', 'seats', { product: 'pro', quantity, until: at(30) }))
    const endsOf = async ({ licenses }: { licenses: { _id: string }[] }) => {
      const ends: Record<string, string> = {}
      for (const { _id } of licenses)
        ends[_id] = (await owner.call('GET', `/licenses/${_id}`)).json.data.license.expiresAt
      return ends
    }
    await sell(on, shop, paid('seats'))
    await orderOnce(owner, 'seats', { state: 'fulfilled' })
    on.clock.advance(minute)
    await times(4, () => changed(4))
    await allUsed(on, shop._id)
    const lines = [{ product: 'pro', quantity: 4 }]
    const four = await orderOnce(owner, 'seats', { state: 'fulfilled', lines })
    expect(four.licenses).toHaveLength(4)
    const [, , third, last] = four.licenses as { _id: string }[]
    // The last one is used.
    await on.database.db
      .updateTable('licenses')
      .set({ used_at: on.clock.now() })
      .where('id', '=', last!._id)
      .execute()
    on.clock.advance(minute)
    await changed(1)
    const waiting = { state: 'waiting', reasonCode: 'fewer_units', choices: ['end'] }
    const reason = 'The subscription has 1 unit from now on: choose 3 of its licenses that end'
    const fewer = await orderOnce(owner, 'seats', { ...waiting, reason })
    const soon = Object.values(await endsOf(fewer))[0]!
    on.clock.advance(minute)
    await sell(on, shop, about('subscription.renewed', 'seats', { until: at(60), payment: 'p2' }))
    await allUsed(on, shop._id)
    const later = at(60)
    const ids = fewer.licenses.map(({ _id }: { _id: string }) => _id)
    const expected = (renewed: string) =>
      Object.fromEntries(ids.map((id: string) => [id, id === renewed ? later : soon]))
    expect(await endsOf(fewer)).toEqual(expected(last!._id))
    const end = (licenses: string[]) =>
      owner.call('POST', `/orders/${fewer._id}/retry`, { choice: 'end', licenses })
    const others = ids.filter((id: string) => id !== third!._id)
    const foreign = await orderOnce(owner, 'seats', waiting)
    expect(foreign.licenses).toHaveLength(4)
    for (const wrong of [
      others.slice(1),
      ids,
      [others[0], others[0], others[1]],
      [...others.slice(1), 'lic_none'],
    ])
      expect(refusal(await end(wrong))).toBe('order_choice_invalid')
    expect((await end(others)).json.data.order).toMatchObject({ state: 'fulfilled', choices: [] })
    expect(await endsOf(fewer)).toEqual(expected(third!._id))
  })

  test('beyond 100 licenses waits, and creates none of them', async () => {
    const type = await makeType(owner, app._id)
    const shop = await makeShop(owner, app._id, [{ product: 'pro', type, quantity: 2 }])
    await sell(on, shop, paid('too-many', { lines: [{ product: 'pro', quantity: 51 }] }))
    await sell(on, shop, paid('as-many', { lines: [{ product: 'pro', quantity: 50 }] }))
    const reason = 'An order can create at most 100 licenses'
    await orderOnce(owner, 'too-many', {
      state: 'waiting',
      reason,
      reasonCode: 'too_many_licenses',
      licenses: [],
    })
    expect((await orderOnce(owner, 'as-many', { state: 'fulfilled' })).licenses).toHaveLength(100)
  })
})

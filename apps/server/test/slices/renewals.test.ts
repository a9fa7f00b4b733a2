import { limits } from '@keyward/contract'
import { beforeEach, describe, expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import { makeApp, makePremium, signUp, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import { times } from '../rounds.ts'
import { allUsed, makeShop, makeType, orderOnce, ordersOf, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'

const on = serverForAll({ PUBLIC_URL: 'http://127.0.0.1:4000' }, { deliveriesEveryMs: 250 })
const owner = ownerForEach(on)
const app = appForEach(owner)
// Sessions end meanwhile.
let vendor: Awaited<ReturnType<typeof makeApiKey>>
beforeEach(async () => {
  await makePremium(on, owner)
  vendor = await makeApiKey(on, owner, {
    permissions: ['licenses:read', 'licenses:write', 'clients:read', 'clients:write'],
  })
})

const days = (value: number) => ({ term: 'date', duration: { value, unit: 'days' } })
const licenseOf = async (id: string) => (await vendor.call('GET', `/licenses/${id}`)).json.data.license
const put = (path: string, body: object) => owner.call('PUT', path, body)
const at = (value: number) => on.clock.inDays(value)

/** A shop with products of types, of which `pro` can become `team`. */
async function shopWith(pro: object, team: object = days(30)) {
  const types = { pro: await makeType(owner, app._id, pro), team: await makeType(owner, app._id, team) }
  const upgrades = [{ type: types.team, name: 'Team', url: 'https://shop.example.com/team' }]
  expect((await put(`/license-types/${types.pro}`, { upgrades })).status).toBe(200)
  const products = Object.entries(types).map(([product, type]) => ({ product, type }))
  return { ...(await makeShop(owner, app._id, products)), types }
}
type Shop = Awaited<ReturnType<typeof shopWith>>

let orders = 0
const buy = async (shop: Shop, wanted: object = {}, expected: object = { state: 'fulfilled' }) => {
  const number = `order-${orders++}`
  expect(await sell(on, shop, paid(number, wanted))).toBe(200)
  return orderOnce(vendor, number, expected)
}
const tell = async (shop: Shop, type: string, order: string, more: object = {}) => {
  expect(await sell(on, shop, { type, timestamp: at(0), data: { order, ...more } })).toBe(200)
  await allUsed(on, shop._id)
}

interface Used {
  _id: string
  key: string
  buyReference: string
}
/** Signs in by key, as programs do when they start. */
const signedIn = async ({ key }: Pick<Used, 'key'>) => {
  const program = await startProgram(on, app)
  const { user } = (await program.call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })).json.data
  return { program, user }
}
const session = async (license: Used) => (await signedIn(license)).user
/** A license that was bought and is used. */
async function used(shop: Shop, wanted: object = {}): Promise<Used> {
  const { licenses } = await buy(shop, wanted)
  await signedIn(licenses[0])
  return licenseOf(licenses[0]._id)
}

test('an order is created once by 32 concurrent repeats of one event and by further events about it', async () => {
  const shop = await shopWith({})
  await times(32, () => sell(on, shop, { ...paid('once-1'), id: 'msg_once' }))
  await times(8, () => sell(on, shop, paid('once-1')))
  await allUsed(on, shop._id)
  expect((await orderOnce(vendor, 'once-1', { state: 'fulfilled' })).licenses).toHaveLength(1)
})

describe('an order with a reference', () => {
  test('renews the license from the later of now and its end, and a refund takes that back', async () => {
    const shop = await shopWith({ ...days(30), updatesForDays: 10 })
    const license = await used(shop)
    on.clock.advance(5 * day)
    const end = new Date(Date.parse(at(25)) + 30 * day).toISOString()
    const order = await buy(shop, { reference: license.buyReference, email: 'else@example.com' })
    expect(order).toMatchObject({ licenses: [], renewed: { _id: license._id }, reason: null, mail: 'none' })
    const renewed = await licenseOf(license._id)
    expect(renewed).toMatchObject({ key: license.key, expiresAt: end, updatesUntil: at(15) })
    expect(renewed.grants[0]).toMatchObject({
      ...{ kind: 'time', amount: 30 * day, withdrawnAt: null },
      source: { kind: 'order', name: order.order },
    })
    expect(await session(license)).toMatchObject({ expiresAt: end, updatesUntil: at(15) })
    expect(await ordersOf(vendor, `license=${license._id}`)).toHaveLength(2)
    await tell(shop, 'order.refunded', order.order)
    expect(await session(license)).toMatchObject({ expiresAt: at(25), updatesUntil: at(5) })
    expect(await licenseOf(license._id)).toMatchObject({ banned: false, expiresAt: at(25) })
    expect(await orderOnce(vendor, order.order, { state: 'refunded' })).toMatchObject({ licenses: [] })
  })

  test('renews one that has ended from now on', async () => {
    const shop = await shopWith({ ...days(30), updatesForDays: 10 })
    const license = await used(shop)
    on.clock.advance(40 * day)
    const twice = [await buy(shop, { reference: license.buyReference })]
    expect(await session(license)).toMatchObject({ expiresAt: at(30) })
    twice.push(await buy(shop, { reference: license.buyReference }))
    expect(await session(license)).toMatchObject({ expiresAt: at(60), updatesUntil: at(20) })
    // The second one does not fall back to the end of before.
    await tell(shop, 'order.refunded', twice[0].order)
    expect(await session(license)).toMatchObject({ expiresAt: at(30), updatesUntil: at(10) })
  })

  test('gives one unit to the license, and new licenses for all others', async () => {
    const shop = await shopWith(days(30))
    const license = await used(shop)
    const lines = [
      { product: 'team', quantity: 1 },
      { product: 'pro', quantity: 3 },
    ]
    const order = await buy(shop, { reference: license.buyReference, lines })
    expect(order.licenses).toHaveLength(3)
    expect(order.renewed._id).toBe(license._id)
    expect((await licenseOf(license._id)).expiresAt).toBe(at(60))
  })

  test('gives the rights of an upgrade for its time, and then what was there before', async () => {
    const shop = await shopWith(
      { ...days(365), devices: 2, features: ['base'] },
      { ...days(30), devices: 1, features: ['team'] },
    )
    const license = await used(shop)
    const lines = [{ product: 'team', quantity: 1 }]
    await buy(shop, { reference: license.buyReference, lines })
    const upgraded = { features: ['base', 'team'], devices: { limit: 2 }, expiresAt: at(365) }
    expect(await session(license)).toMatchObject(upgraded)
    on.clock.advance(31 * day)
    expect(await session(license)).toMatchObject({ features: ['base'], expiresAt: at(334) })
    await vendor.call('PUT', `/licenses/${license._id}`, { expiresAt: at(10) })
    const order = await buy(shop, { reference: license.buyReference, lines })
    expect(await session(license)).toMatchObject({ features: ['base', 'team'], expiresAt: at(30) })
    await tell(shop, 'order.refunded', order.order)
    expect(await session(license)).toMatchObject({ features: ['base'], expiresAt: at(10) })
  })

  test('that upgrades in a pause gives its whole time after that of the one before', async () => {
    const shop = await shopWith(days(365), { ...days(30), features: ['team'] })
    const licenses = await times(3, () => used(shop))
    const users = (await Promise.all(licenses.map(signedIn))).map(({ user }) => user._id)
    const lines = [{ product: 'team', quantity: 1 }]
    const upgrade = () =>
      Promise.all(licenses.map(({ buyReference: reference }) => buy(shop, { reference, lines })))
    const togglePauses = async () => {
      for (const id of users)
        expect((await vendor.call('PATCH', `/clients/${id}/toggle-pause`)).status).toBe(200)
    }
    const rights = () =>
      Promise.all(
        users.map(async (id) => {
          const { client } = (await vendor.call('GET', `/clients/${id}`)).json.data
          return client.rights.map(({ until }: { until: string }) => until)
        }),
      )
    const first = await upgrade()
    on.clock.advance(10 * day)
    await togglePauses()
    // Without the pause the first upgrade would have ended.
    on.clock.advance(30 * day)
    const second = await upgrade()
    const both = [at(20), at(50)]
    expect(await rights()).toEqual([both, both, both])
    await tell(shop, 'order.refunded', first[1]!.order)
    expect(await rights()).toEqual([both, [at(30)], both])
    on.clock.advance(10 * day)
    await togglePauses()
    const moved = [at(20), at(50)]
    expect(await rights()).toEqual([moved, [at(30)], moved])
    await tell(shop, 'order.refunded', second[0]!.order)
    await tell(shop, 'order.refunded', first[2]!.order)
    expect(await rights()).toEqual([[at(20)], [at(30)], [at(30)]])
    for (const license of licenses) expect((await session(license)).features).toEqual(['team'])
  })

  test('that upgrades while the upgrade before it is disputed follows that one once the dispute is won', async () => {
    const shop = await shopWith(days(365), { ...days(30), features: ['team'] })
    const license = await used(shop)
    const wanted = { reference: license.buyReference, lines: [{ product: 'team', quantity: 1 }] }
    const { user } = await signedIn(license)
    const rights = async () => {
      const { client } = (await vendor.call('GET', `/clients/${user._id}`)).json.data
      return client.rights.map(({ until }: { until: string }) => until)
    }
    const { order } = await buy(shop, wanted)
    await tell(shop, 'order.disputed', order)
    on.clock.advance(day)
    await buy(shop, wanted)
    expect(await rights()).toEqual([at(30)])
    await tell(shop, 'order.dispute_won', order)
    expect(await rights()).toEqual([at(29), at(59)])
  })

  test('keeps what an extension beside a subscription gives to an upgrade, however that is paid then', async () => {
    const shop = await shopWith(days(30), { ...days(30), features: ['team'] })
    const license = await used(shop)
    const { user } = await signedIn(license)
    const rights = async () => {
      const { client } = (await vendor.call('GET', `/clients/${user._id}`)).json.data
      return client.rights.map(({ until }: { until: string }) => until)
    }
    const reference = license.buyReference
    await buy(shop, { reference, lines: [{ product: 'team', quantity: 1 }] })
    const { order } = await buy(shop, { reference, payment: 'p1' })
    await tell(shop, 'subscription.renewed', order, { until: at(60), payment: 'p1' })
    const extension = { action: 'extend', ids: [license._id], days: 7 }
    expect((await vendor.call('POST', '/licenses/bulk', extension)).status).toBe(200)
    expect(await rights()).toEqual([at(37)])
    on.clock.advance(day)
    await tell(shop, 'subscription.renewed', order, { until: at(90), payment: 'p2' })
    expect(await rights()).toEqual([at(36)])
    await tell(shop, 'order.refunded', order)
    expect(await rights()).toEqual([at(36)])
  })

  test.each([
    ['type', 5, 30],
    ['type', 40, 30],
    ['later', 5, 30],
    ['later', 40, 40],
    ['keep', 5, 5],
  ])(
    'of a subscription keeps what a change of type to the end "%s" gives beside it',
    async (end, own, left) => {
      const shop = await shopWith(days(30))
      const license = await used(shop)
      await put(`/licenses/${license._id}`, { expiresAt: at(own) })
      const { order } = await buy(shop, { reference: license.buyReference, payment: 'p1' })
      await tell(shop, 'subscription.renewed', order, { until: at(80), payment: 'p1' })
      expect((await put(`/licenses/${license._id}`, { type: shop.types.pro, end })).status).toBe(200)
      expect((await session(license)).expiresAt).toBe(at(80))
      await tell(shop, 'subscription.ended', order)
      expect((await session(license)).expiresAt).toBe(at(left))
    },
  )

  test('moves only the updates of a license that never ends, and waits without any', async () => {
    const shop = await shopWith({ updatesForDays: 100 })
    const license = await used(shop)
    await buy(shop, { reference: license.buyReference })
    expect(await session(license)).toMatchObject({ expiresAt: null, updatesUntil: at(200) })
    const all = await shopWith({})
    const whole = await used(all)
    const waiting = await buy(all, { reference: whole.buyReference }, { state: 'waiting' })
    expect(waiting).toMatchObject({ reasonCode: 'nothing_to_renew', choices: ['newLicense'], licenses: [] })
    const { order } = (await vendor.call('POST', `/orders/${waiting._id}/retry`, { choice: 'newLicense' }))
      .json.data
    expect(order).toMatchObject({
      state: 'fulfilled',
      renewed: null,
      licenses: [{ _id: expect.any(String) }],
    })
  })

  test('covers the updates of its own time alone once the renewal before it is refunded', async () => {
    const shop = await shopWith({ ...days(30), updatesForDays: 10 })
    const license = await used(shop)
    expect((await put(`/license-types/${shop.types.pro}`, { updatesForDays: null })).status).toBe(200)
    const orders = [await buy(shop, { reference: license.buyReference })]
    orders.push(await buy(shop, { reference: license.buyReference }))
    expect(await session(license)).toMatchObject({ expiresAt: at(90), updatesUntil: at(90) })
    await tell(shop, 'order.refunded', orders[0].order)
    expect(await session(license)).toMatchObject({ expiresAt: at(60), updatesUntil: at(60) })
    await tell(shop, 'order.refunded', orders[1].order)
    expect(await session(license)).toMatchObject({ expiresAt: at(30), updatesUntil: at(10) })
  })

  test('of a type without end counts although another one hides it, and stays when that one is refunded', async () => {
    const shop = await shopWith({ updatesForDays: 100 })
    const license = await used(shop)
    expect((await put(`/licenses/${license._id}`, { expiresAt: at(10) })).status).toBe(200)
    const orders = [await buy(shop, { reference: license.buyReference })]
    orders.push(await buy(shop, { reference: license.buyReference }))
    await tell(shop, 'order.refunded', orders[0].order)
    expect(await session(license)).toMatchObject({ expiresAt: null, updatesUntil: at(200) })
    await tell(shop, 'order.refunded', orders[1].order)
    expect(await session(license)).toMatchObject({ expiresAt: at(10), updatesUntil: at(100) })
  })

  test('of a subscription gives its paid end beside what was there, and bans nothing', async () => {
    const shop = await shopWith(days(30), { ...days(30), features: ['team'] })
    const license = await used(shop)
    const lines = [{ product: 'team', quantity: 1 }]
    const { order } = await buy(shop, { reference: license.buyReference, lines, payment: 'p1' })
    await tell(shop, 'subscription.renewed', order, { until: at(20), payment: 'p1' })
    expect(await session(license)).toMatchObject({ features: ['team'], expiresAt: at(30) })
    await tell(shop, 'subscription.renewed', order, { until: at(50), payment: 'p2' })
    expect(await session(license)).toMatchObject({ features: ['team'], expiresAt: at(50) })
    on.clock.advance(day)
    await tell(shop, 'order.refunded', order, { payment: 'p2' })
    expect(await session(license)).toMatchObject({ expiresAt: at(29) })
    on.clock.advance(day)
    await tell(shop, 'subscription.ended', order)
    expect(await session(license)).toMatchObject({ features: [], expiresAt: at(28) })
    await tell(shop, 'order.refunded', order)
    expect(await licenseOf(license._id)).toMatchObject({ banned: false, expiresAt: at(28) })
  })

  test('of a subscription that was paid for long enough leaves a license that never ends', async () => {
    const shop = await shopWith(
      { ...days(30), fallbackAfterMonths: 2 },
      { ...days(30), features: ['team'], fallbackAfterMonths: 2 },
    )
    const [bought, renewed] = [await used(shop, { payment: 'a1' }), await used(shop)]
    const [first] = await ordersOf(vendor, `license=${bought._id}`)
    const lines = [{ product: 'team', quantity: 1 }]
    const { order } = await buy(shop, { reference: renewed.buyReference, lines, payment: 'b1' })
    const subscriptions = [
      { license: bought, number: first.order, payment: 'a', features: [] },
      { license: renewed, number: order, payment: 'b', features: ['team'] },
    ]
    const end = at(62)
    for (const { number, payment } of subscriptions) {
      await tell(shop, 'subscription.renewed', number, { until: at(31), payment: `${payment}1` })
      await tell(shop, 'subscription.renewed', number, { until: end, payment: `${payment}2` })
    }
    for (const { license } of subscriptions)
      expect(await licenseOf(license._id)).toMatchObject({ expiresAt: end, updatesUntil: null })
    // No event tells that a subscription is not paid any more.
    on.clock.advance(63 * day)
    const stays = { expiresAt: null, term: 'forever', updatesUntil: end }
    for (const { license, features } of subscriptions) {
      await expect.poll(() => licenseOf(license._id)).toMatchObject(stays)
      expect(await session(license)).toMatchObject({ expiresAt: null, updatesUntil: end, features })
    }
    for (const { license, number, payment } of subscriptions) {
      await tell(shop, 'subscription.ended', number)
      expect(await licenseOf(license._id)).toMatchObject(stays)
      on.clock.advance(day)
      const later = at(30)
      await tell(shop, 'subscription.renewed', number, { until: later, payment: `${payment}3` })
      expect(await licenseOf(license._id)).toMatchObject({ ...stays, updatesUntil: later })
      await tell(shop, 'order.refunded', number, { payment: `${payment}3` })
      expect(await licenseOf(license._id)).toMatchObject(stays)
      await tell(shop, 'order.refunded', number, { payment: `${payment}2` })
      expect((await licenseOf(license._id)).expiresAt).not.toBeNull()
    }
  })

  test('of a subscription goes on with the months that one before it has paid for the same type', async () => {
    const upgrade = { ...days(30), features: ['team'], fallbackAfterMonths: 2 }
    const shop = await shopWith({ ...days(30), fallbackAfterMonths: 2 }, upgrade)
    const license = await used(shop, { payment: 'a1' })
    const [first] = await ordersOf(vendor, `license=${license._id}`)
    const paidFor = async (number: string, payment: string) => {
      await tell(shop, 'subscription.renewed', number, { until: at(31), payment })
      on.clock.advance(32 * day)
      await tell(shop, 'subscription.ended', number)
    }
    const subscribe = async (product: string, payment: string) => {
      const lines = [{ product, quantity: 1 }]
      const { order } = await buy(shop, { reference: license.buyReference, lines, payment })
      await paidFor(order, payment)
    }
    await paidFor(first.order, 'a1')
    await subscribe('team', 'b1')
    expect((await licenseOf(license._id)).expiresAt).not.toBeNull()
    await subscribe('pro', 'c1')
    const stays = { expiresAt: null, term: 'forever', features: [], updatesUntil: at(-1) }
    expect(await licenseOf(license._id)).toMatchObject(stays)
    await tell(shop, 'order.refunded', first.order)
    await expect.poll(async () => (await licenseOf(license._id)).expiresAt).not.toBeNull()
  })

  test('of a subscription leaves nothing for a banned license, or before the months of the license are paid', async () => {
    const shop = await shopWith({ ...days(30), fallbackAfterMonths: 2 })
    const [short, banned] = [await used(shop), await used(shop)]
    for (const [license, until] of [
      [short, at(45)],
      [banned, at(62)],
    ] as const) {
      const [order] = await ordersOf(vendor, `license=${license._id}`)
      await tell(shop, 'subscription.renewed', order.order, { until })
    }
    const renewed = await used(shop)
    const grown = await buy(shop, { payment: 'g1' })
    // These have no license type until the second month.
    const lines = [{ product: 'late', quantity: 1 }]
    const late = await buy(shop, { payment: 'l1', lines }, { state: 'waiting' })
    const reference = renewed.buyReference
    const renewing = await buy(shop, { payment: 'r1', lines, reference }, { state: 'waiting' })
    const begun = [
      [grown, 'g'],
      [late, 'l'],
      [renewing, 'r'],
    ] as const
    const pay = async (month: number) => {
      for (const [{ order }, payment] of begun)
        await tell(shop, 'subscription.renewed', order, { until: at(31), payment: `${payment}${month}` })
    }
    await pay(1)
    await vendor.call('PATCH', `/licenses/${banned._id}/toggle-ban`, { is_banned: true })
    on.clock.advance(31 * day)
    await makePremium(on, owner)
    const until = at(31)
    await pay(2)
    on.clock.advance(hour)
    await tell(shop, 'subscription.changed', grown.order, { product: 'pro', quantity: 2, until })
    const { licenses } = await orderOnce(vendor, grown.order, { state: 'fulfilled' })
    const products = ['pro', 'late'].map((product) => ({ product, type: shop.types.pro }))
    expect((await vendor.call('PUT', `/shops/${shop._id}`, { products })).status).toBe(200)
    for (const { _id } of [late, renewing]) await vendor.call('POST', `/orders/${_id}/retry`, {})
    const made = await orderOnce(vendor, late.order, { state: 'fulfilled' })
    await orderOnce(vendor, renewing.order, { state: 'fulfilled' })
    on.clock.advance(32 * day)
    const looked = () =>
      on.database.db.selectFrom('shop_orders').select('id').where('ends_at', 'is not', null).execute()
    await expect.poll(looked).toEqual([])
    const added = licenses.find(({ _id }: Used) => _id !== grown.licenses[0]._id)
    for (const license of [short, banned, added])
      expect(await licenseOf(license._id)).toMatchObject({ term: 'date', expiresAt: expect.any(String) })
    for (const license of [grown.licenses[0], made.licenses[0], renewed])
      expect(await licenseOf(license._id)).toMatchObject({ expiresAt: null, updatesUntil: until })
  })

  test('with the reference of an added key gives its end user time and rights', async () => {
    const shop = await shopWith(days(30), { ...days(10), features: ['team'] })
    const license = await used(shop)
    const { licenses } = await buy(shop, { lines: [{ product: 'team', quantity: 1 }] })
    const upgrade = { username: license.key, licenseKey: licenses[0].key }
    const { program } = await signedIn(license)
    expect((await program.call('POST', '/upgrade', upgrade)).status).toBe(200)
    const { buyReference: reference } = await licenseOf(licenses[0]._id)
    const order = await buy(shop, { reference, lines: [{ product: 'team', quantity: 1 }] })
    expect(await session(license)).toMatchObject({ expiresAt: at(50), features: ['team'] })
    on.clock.advance(15 * day)
    expect(await session(license)).toMatchObject({ features: ['team'] })
    await tell(shop, 'order.refunded', order.order)
    expect(await session(license)).toMatchObject({ expiresAt: at(25), features: [] })
  })

  test('makes new licenses of a reference that cannot be used', async () => {
    const shop = await shopWith(days(30))
    const { licenses } = await buy(shop)
    const unused = await licenseOf(licenses[0]._id)
    const license = await used(shop)
    const real = await licenseOf(license._id)
    const untyped = (await vendor.call('POST', '/licenses', { app: app._id, expiresAt: at(10) })).json.data
      .license
    const forged = `${real.buyReference.slice(0, -1)}${real.buyReference.endsWith('A') ? 'B' : 'A'}`
    const { grants } = real
    const deleted = await used(shop)
    await owner.call('DELETE', `/licenses/${deleted._id}`)
    const gone = { deleted: deleted.buyReference, untyped: untyped.buyReference, unused: unused.buyReference }
    for (const reference of [...Object.values(gone), forged, 'kwr_', '💥']) {
      const order = await buy(shop, { reference })
      expect(order, reference).toMatchObject({ renewed: null, licenses: [{ _id: expect.any(String) }] })
    }
    const tried = await buy(shop, { reference: real.buyReference, test: true })
    expect(tried).toMatchObject({ renewed: null, licenses: [{ _id: expect.any(String) }] })
    const { _id: other } = await makeApp(owner)
    const foreign = await makeShop(owner, other, [{ product: 'pro', type: await makeType(owner, other) }])
    const elsewhere = await buy({ ...shop, ...foreign }, { reference: real.buyReference })
    expect(elsewhere).toMatchObject({ renewed: null, licenses: [{ _id: expect.any(String) }] })
    expect((await licenseOf(license._id)).grants).toEqual(grants)
  })

  test('makes any type of a trial', async () => {
    const shop = await shopWith(days(30), { ...days(60), features: ['team'] })
    const trial = await makeType(owner, app._id, { ...days(7), term: 'first_use', trial: true })
    const program = await startProgram(on, app)
    expect((await program.call('POST', '/trial', { hwid: 'pc-1' })).status).toBe(200)
    const [{ _id }] = (await vendor.call('GET', `/licenses?type=${trial}`)).json.data.licenses
    const { buyReference: reference } = await licenseOf(_id)
    const order = await buy(shop, { reference, lines: [{ product: 'team', quantity: 1 }] })
    expect(order).toMatchObject({ licenses: [], renewed: { _id } })
    const { user } = (await program.call('GET', '/session')).json.data
    expect(user).toMatchObject({ features: ['team'], expiresAt: at(60) })
  })

  test('waits while the license is banned, and renews it once it is not', async () => {
    const shop = await shopWith(days(30))
    const license = await used(shop)
    await vendor.call('PATCH', `/licenses/${license._id}/toggle-ban`, { is_banned: true })
    const waiting = await buy(shop, { reference: license.buyReference }, { state: 'waiting' })
    expect(waiting).toMatchObject({ reasonCode: 'license_banned', choices: ['newLicense'] })
    await vendor.call('PATCH', `/licenses/${license._id}/toggle-ban`, { is_banned: false })
    const { order } = (await vendor.call('POST', `/orders/${waiting._id}/retry`, {})).json.data
    expect(order).toMatchObject({ state: 'fulfilled', renewed: { _id: license._id }, licenses: [] })
    expect((await licenseOf(license._id)).expiresAt).toBe(at(60))
  })

  test('counts what was deleted, and names no key to who mails without reading licenses', async () => {
    const shop = await shopWith(days(30))
    const license = await used(shop)
    const lines = [{ product: 'pro', quantity: 2 }]
    const order = await buy(shop, { reference: license.buyReference, lines })
    expect(order).toMatchObject({ renewed: { _id: license._id }, deletedLicenses: 0 })
    const mailer = await makeApiKey(on, owner, { permissions: ['clients:read', 'clients:write'] })
    const { json } = await mailer.call('POST', `/orders/${order._id}/mail`)
    expect(json.data.order).toMatchObject({ email: null, licenses: [], renewed: null })
    await owner.call('DELETE', `/licenses/${license._id}`)
    const [left] = await ordersOf(vendor, `search=${order.order}`)
    expect(left).toMatchObject({ licenses: order.licenses, renewed: null, deletedLicenses: 1 })
  })

  test('gets its new license later if the plan has no place for it when the vendor chooses so', async () => {
    const seller = await signUp(on)
    const small = await makeApp(seller)
    const shop = await makeShop(seller, small._id, [
      { product: 'pro', type: await makeType(seller, small._id, days(30)) },
    ])
    await sell(on, shop, paid('small-1'))
    const [{ _id }] = (await orderOnce(seller, 'small-1', { state: 'fulfilled' })).licenses
    const { key, buyReference } = (await seller.call('GET', `/licenses/${_id}`)).json.data.license
    const program = await startProgram(on, small)
    expect((await program.call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })).status).toBe(200)
    await seller.call('PATCH', `/licenses/${_id}/toggle-ban`, { is_banned: true })
    await sell(on, shop, paid('small-2', { reference: buyReference }))
    const waiting = await orderOnce(seller, 'small-2', { state: 'waiting', reasonCode: 'license_banned' })
    const count = limits.free.maxLicensesPerApp - 1
    const full = await seller.call('POST', '/licenses', { app: small._id, expiresAt: null, count })
    expect(full.status).toBe(201)
    await seller.call('POST', `/orders/${waiting._id}/retry`, { choice: 'newLicense' })
    await orderOnce(seller, 'small-2', { state: 'waiting', reasonCode: 'plan_full', licenses: [] })
    await seller.call('DELETE', `/licenses/${full.json.data.license._id}`)
    await seller.call('POST', `/orders/${waiting._id}/retry`, {})
    const later = await orderOnce(seller, 'small-2', { state: 'fulfilled', renewed: null })
    expect(later.licenses).toHaveLength(1)
  })

  test('counts at once and waits while another subscription will charge again', async () => {
    const shop = await shopWith(days(30))
    const license = await used(shop)
    const [first] = await ordersOf(vendor, `license=${license._id}`)
    await tell(shop, 'subscription.renewed', first.order, { until: at(31) })
    const subscribe = async () => {
      const { order } = await buy(shop, { reference: license.buyReference }, { state: 'waiting' })
      await tell(shop, 'subscription.renewed', order, { until: at(90) })
      return orderOnce(vendor, order, { state: 'waiting' })
    }
    const second = await subscribe()
    expect(second).toMatchObject({ reasonCode: 'license_subscribed', choices: ['replace', 'newLicense'] })
    expect(await session(license)).toMatchObject({ expiresAt: at(90) })
    const decide = async (id: string, choice: string) =>
      (await vendor.call('POST', `/orders/${id}/retry`, { choice })).json.data.order
    expect(await decide(second._id, 'replace')).toMatchObject({ state: 'fulfilled' })
    await tell(shop, 'subscription.renewed', first.order, { until: at(200) })
    await tell(shop, 'order.refunded', first.order)
    expect(await licenseOf(license._id)).toMatchObject({ expiresAt: at(90), banned: false })
    const third = await subscribe()
    expect(await decide(third._id, 'newLicense')).toMatchObject({
      ...{ state: 'fulfilled', renewed: null },
      licenses: [{ _id: expect.any(String) }],
    })
    await tell(shop, 'subscription.ended', second.order)
    const { order } = await buy(shop, { reference: license.buyReference })
    expect((await orderOnce(vendor, order, { state: 'fulfilled' })).renewed._id).toBe(license._id)
  })

  test('is used once, whatever arrives twice and however many buy at once', async () => {
    const shop = await shopWith(days(30))
    const license = await used(shop)
    const reference = license.buyReference
    const events = Array.from({ length: 8 }, (_, n) => ({
      ...paid(`many-${n % 4}`, { reference }),
      id: `m-${n}`,
    }))
    await Promise.all([...events, ...events].map((event) => sell(on, shop, event)))
    await allUsed(on, shop._id)
    expect((await licenseOf(license._id)).expiresAt).toBe(at(150))
  })
})

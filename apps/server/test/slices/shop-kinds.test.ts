// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import type { ShopKind } from '@keyward/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { toOwnerActor } from '../../src/core/actor.ts'
import { day, hour, minute } from '../../src/core/clock.ts'
import { modules } from '../../src/modules/index.ts'
import { adapters } from '../../src/modules/shops/shops.adapters.ts'
import { readObject } from '../../src/modules/webhooks/webhooks.body.ts'
import { makeApp, makePremium, type Owner, signUp, wrongFields } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { ctxOf, startServer, type TestServer } from '../harness.ts'
import { addMember } from '../member-actor.ts'
import { times } from '../rounds.ts'
import { allUsed, makeType, orderOnce, ordersOf } from '../shop-actor.ts'
import {
  gumroadSeller,
  kinds,
  newShopOf,
  protocols,
  requestOf,
  startShopHosts,
  toTold,
} from '../shop-protocols.ts'

let shops: Awaited<ReturnType<typeof startShopHosts>>
let on: TestServer
let owner: Owner
let appId: string
let types: { pro: string; plus: string }
beforeAll(async () => {
  shops = await startShopHosts()
  on = await startServer(shops.environment)
  owner = await signUp(on)
  await makePremium(on, owner)
})
// An app has at most 20 shops.
beforeEach(async () => {
  // The tests before have let the clock run.
  await owner.call('POST', '/auth/confirm', { password: owner.password })
  appId = (await makeApp(owner))._id
  types = { pro: await makeType(owner, appId, { graceDays: 7 }), plus: await makeType(owner, appId) }
})
afterAll(async () => {
  await on.close()
  shops.close()
})

const products = () => Object.entries(types).map(([product, type]) => ({ product, type }))

interface Shop {
  _id: string
  kind: ShopKind
  hook: string
  secret: string
}

async function addShop(kind: ShopKind, more: object = {}): Promise<Shop> {
  const wanted = { ...newShopOf(kind, products()), ...more }
  const answer = await owner.call('POST', `/apps/${appId}/shops`, wanted)
  expect(answer.status).toBe(201)
  return { ...answer.json.data.shop, secret: wanted.secret }
}

let orders = 0
const now = () => new Date(on.clock.now())
/** The same day of the next month, or its last day. */
function inAMonth(): string {
  const end = now()
  end.setUTCMonth(end.getUTCMonth() + 1)
  if (end.getUTCDate() !== now().getUTCDate()) end.setUTCDate(0)
  return end.toISOString()
}
/** An order of one license, as a shop of this kind tells of it. */
function sold(kind: ShopKind, begin: 'order' | 'sub' = 'order') {
  const order = `${begin}-${++orders}`
  const bought = { email: 'ada@example.com', amount: 1000, currency: 'USD' }
  const lines = [{ product: 'pro', quantity: 1 }]
  const event = toTold({ type: 'order.paid', data: { order, ...bought, lines } }, now())
  return { order, said: protocols[kind].say(event, shops.hosts[kind]) }
}
const post = (
  hook: string,
  { payload, headers }: { payload: string | Buffer; headers: Record<string, string> },
) => on.server.inject({ method: 'POST', url: hook, payload, headers })
const deliver = async ({ kind, hook, secret }: Shop, said: { id: string; body: string }) =>
  (await post(hook, requestOf(kind, said, secret, now()))).statusCode
const tell = async (shop: Shop, type: string, data: object) => {
  const said = protocols[shop.kind].say(toTold({ type, data }, now()), shops.hosts[shop.kind])
  expect(await deliver(shop, said)).toBe(200)
  await allUsed(on, shop._id)
}
const storedOf = (shop: Shop) =>
  on.database.db.selectFrom('shop_events').selectAll().where('shop_id', '=', shop._id).execute()
const licenseOf = async (order: { licenses: { _id: string }[] }) =>
  (await owner.call('GET', `/licenses/${order.licenses[0]?._id}`)).json.data.license

describe.each(kinds)('a shop of %s', (kind) => {
  test('refuses forged, changed, foreign and missing signatures alike, and stores nothing', async () => {
    const [shop, other] = [await addShop(kind), await addShop(kind)]
    const { said } = sold(kind)
    const valid = requestOf(kind, said, shop.secret, now())
    const forged =
      kind === 'gumroad'
        ? [
            { ...valid, payload: valid.payload.replace(encodeURIComponent(gumroadSeller), 'other==') },
            { ...valid, payload: 'sale_id=order-1' },
            { ...valid, payload: '' },
          ]
        : [
            { ...valid, payload: valid.payload.replace('order-', 'other-') },
            { ...valid, payload: `${valid.payload} ` },
            { ...valid, headers: { 'content-type': 'application/json' } },
            requestOf(kind, said, other.secret, now()),
          ]
    const answers = await Promise.all(forged.map((request) => post(shop.hook, request)))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(forged.map(() => 401))
    expect(new Set(answers.map(({ payload }) => JSON.parse(payload).message)).size).toBe(1)
    expect(await storedOf(shop)).toEqual([])
  })

  test.runIf(kind !== 'lemonsqueezy' && kind !== 'gumroad')(
    'refuses a signature that is older or newer than 5 minutes',
    async () => {
      const shop = await addShop(kind)
      const { said } = sold(kind)
      for (const ms of [6 * minute, -6 * minute]) {
        const request = requestOf(kind, said, shop.secret, new Date(on.clock.now() + ms))
        expect((await post(shop.hook, request)).statusCode).toBe(401)
      }
    },
  )

  test('creates one license, however often and concurrently an event is delivered', async () => {
    const shop = await addShop(kind)
    const { order, said } = sold(kind)
    expect(new Set(await times(16, () => deliver(shop, said)))).toEqual(new Set([200]))
    expect(await storedOf(shop)).toHaveLength(1)
    const found = await orderOnce(owner, order, {
      state: 'fulfilled',
      email: 'ada@example.com',
      amount: 1000,
    })
    expect(found.licenses).toHaveLength(1)
    expect(await deliver(shop, said)).toBe(200)
    expect(await storedOf(shop)).toHaveLength(1)
  })

  test('takes any media type, and no body beyond 256 KiB', async () => {
    const shop = await addShop(kind)
    const { order, said } = sold(kind)
    const request = requestOf(kind, said, shop.secret, now())
    const large = Buffer.alloc(262_145, ' ')
    expect((await post(shop.hook, { ...request, payload: large })).statusCode).toBe(413)
    const headers = { ...request.headers, 'content-type': 'text/plain' }
    expect((await post(shop.hook, { ...request, headers })).statusCode).toBe(200)
    await orderOnce(owner, order, { state: 'fulfilled' })
  })

  test('is reached under any host and from any origin on a development instance, not through a proxy', async () => {
    const shop = await addShop(kind)
    const request = requestOf(kind, sold(kind).said, shop.secret, now())
    const named = { host: 'tunnel.example.com', origin: 'https://shop.example.com' }
    const health = await on.server.inject({ url: '/api/health', headers: named })
    expect(health.json().code).toBe('forwarded_refused')
    const through = { ...request.headers, ...named }
    const proxied = { ...through, 'x-forwarded-for': '203.0.113.7' }
    expect((await post(shop.hook, { ...request, headers: proxied })).json().code).toBe('forwarded_refused')
    expect((await post(shop.hook, { ...request, headers: through })).statusCode).toBe(200)
  })

  test('a full refund bans, a part of it waits', async () => {
    const shop = await addShop(kind)
    const [part, full] = [sold(kind), sold(kind)]
    for (const { order, said } of [part, full]) {
      expect(await deliver(shop, said)).toBe(200)
      await orderOnce(owner, order, { state: 'fulfilled' })
    }
    await tell(shop, 'order.refunded', { order: part.order, amount: 400 })
    const reason = 'A part was refunded: ban its licenses or keep them'
    const waiting = await orderOnce(owner, part.order, { state: 'waiting', reason })
    expect(await licenseOf(waiting)).toMatchObject({ banned: false })
    on.clock.advance(2 * hour)
    await tell(shop, 'order.refunded', { order: part.order, amount: 600 })
    expect(await licenseOf(await orderOnce(owner, part.order, { state: 'refunded' }))).toMatchObject({
      banned: true,
    })
    await tell(shop, 'order.refunded', { order: full.order })
    expect(await licenseOf(await orderOnce(owner, full.order, { state: 'refunded' }))).toMatchObject({
      banned: true,
    })
  })

  test('a refunded renewal leaves what was paid before, and a payment after a refund counts', async () => {
    const shop = await addShop(kind)
    const [renewed, refunded] = [sold(kind, 'sub'), sold(kind, 'sub')]
    for (const { order, said } of [renewed, refunded]) {
      expect(await deliver(shop, said)).toBe(200)
      await orderOnce(owner, order, { state: 'fulfilled' })
    }
    const found = await orderOnce(owner, renewed.order, { state: 'fulfilled' })
    const lost = await orderOnce(owner, refunded.order, { state: 'fulfilled' })
    on.clock.advance(2 * day)
    const [first, { order }] = [inAMonth(), renewed]
    await tell(shop, 'subscription.renewed', { order, until: first, payment: `${order}-1` })
    on.clock.advance(day)
    const second = inAMonth()
    const payment = `${order}-2`
    await tell(shop, 'subscription.renewed', { order, until: second, payment, amount: 1000 })
    expect(await licenseOf(found)).toMatchObject({ expiresAt: second })
    on.clock.advance(minute)
    await tell(shop, 'order.refunded', { order, payment })
    await orderOnce(owner, order, { state: 'fulfilled' })
    expect(await licenseOf(found)).toMatchObject({ banned: false, expiresAt: first })
    await tell(shop, 'order.refunded', { order: refunded.order })
    await orderOnce(owner, refunded.order, { state: 'refunded' })
    on.clock.advance(2 * day)
    const third = inAMonth()
    const next = { order: refunded.order, until: third, payment: `${refunded.order}-1` }
    await tell(shop, 'subscription.renewed', next)
    await orderOnce(owner, refunded.order, { state: 'fulfilled' })
    expect(await licenseOf(lost)).toMatchObject({ banned: false, expiresAt: third })
  })

  test('a subscription follows renewal, change, failed payment and end', async () => {
    const shop = await addShop(kind)
    const { order, said } = sold(kind, 'sub')
    expect(await deliver(shop, said)).toBe(200)
    const found = await orderOnce(owner, order, { state: 'fulfilled' })
    on.clock.advance(day)
    const first = inAMonth()
    await tell(shop, 'subscription.renewed', { order, until: first })
    expect(await licenseOf(found)).toMatchObject({ expiresAt: first, type: { _id: types.pro } })
    on.clock.advance(day)
    const second = inAMonth()
    await tell(shop, 'subscription.changed', { order, product: 'plus', until: second })
    expect(await licenseOf(found)).toMatchObject({ expiresAt: second, type: { _id: types.plus } })
    on.clock.advance(day)
    const failed = now().toISOString()
    await tell(shop, 'subscription.payment_failed', { order })
    expect(await licenseOf(found)).toMatchObject({ expiresAt: failed, banned: false })
    on.clock.advance(minute)
    const third = inAMonth()
    await tell(shop, 'subscription.renewed', { order, until: third })
    expect(await licenseOf(found)).toMatchObject({ expiresAt: third, type: { _id: types.plus } })
    on.clock.advance(day)
    const ended = now().toISOString()
    await tell(shop, 'subscription.ended', { order })
    expect(await licenseOf(found)).toMatchObject({ expiresAt: ended, banned: false })
  })

  test.runIf(protocols[kind].disputes > 0)('a dispute bans until it is won', async () => {
    const shop = await addShop(kind)
    const { order, said } = sold(kind)
    expect(await deliver(shop, said)).toBe(200)
    await orderOnce(owner, order, { state: 'fulfilled' })
    await tell(shop, 'order.disputed', { order })
    expect(await licenseOf(await orderOnce(owner, order, { state: 'disputed' }))).toMatchObject({
      banned: true,
    })
    on.clock.advance(minute)
    await tell(shop, 'order.dispute_won', { order })
    expect(await licenseOf(await orderOnce(owner, order, { state: 'fulfilled' }))).toMatchObject({
      banned: false,
    })
  })

  test.runIf(kind !== 'custom' && kind !== 'lemonsqueezy')(
    'needs an API key, which is not shown, and creates nothing that its host does not confirm',
    async () => {
      const { apiKey, ...wanted } = newShopOf(kind, products())
      const answer = await owner.call('POST', `/apps/${appId}/shops`, wanted)
      expect(wrongFields(answer)).toEqual(['apiKey'])
      const shop = await addShop(kind)
      expect(JSON.stringify(shop)).not.toContain(apiKey)
      const host = shops.hosts[kind]
      const { order, said } = sold(kind)
      host.isDown = true
      expect(await deliver(shop, said)).toBe(200)
      await allUsed(on, shop._id)
      host.isDown = false
      const found = await ordersOf(owner, `shop=${shop._id}`)
      expect(found.flatMap(({ licenses }: { licenses: object[] }) => licenses)).toEqual([])
      await owner.call('PUT', `/shops/${shop._id}`, { active: true })
      await orderOnce(owner, order, { state: 'fulfilled' })
    },
  )
})

test.each([
  ['stripe', 'stripe'],
  ['paddle', 'whsec_aaaaaaaaaaaaaaaaaaaaaaaa'],
  ['lemonsqueezy', 'short'],
  ['gumroad', 'Ada Lovelace'],
] as const)('a shop of %s does not take “%s” for its secret', async (kind, secret) => {
  const answer = await owner.call('POST', `/apps/${appId}/shops`, { ...newShopOf(kind), secret })
  expect(wrongFields(answer)).toEqual(['secret'])
})

// By `hmac` of Python.
test('Paddle: accepts signatures computed by another program, and none that is wrong or old', () => {
  const secret = 'pdl_ntfset_01h8xk2qv3wz_5kQ7mJx0P2r4t6v8y0A1b3D5f7H9j1L3'
  const body =
    '{"event_id":"evt_01h","event_type":"cart.opened","occurred_at":"2026-03-04T10:22:30.155553Z","data":{"id":"txn_01h"}}'
  const h1 = '6d1dea2a03a4f70840a7b216774d1bfd11f618b1d2b4eeee04f87d9770218cbb'
  const verify = (header: string, now = 1_772_619_750_000, text = body) =>
    adapters.paddle.verify(secret, {
      headers: { 'paddle-signature': header },
      body: Buffer.from(text),
      now,
    })
  expect(verify(`ts=1772619750;h1=${h1}`)).toEqual({ id: 'evt_01h', at: 1_772_619_750_155 })
  expect(verify(`ts=1772619750;h1=${'0'.repeat(64)};h1=${h1}`)).toBeDefined()
  for (const wrong of ['', `h1=${h1}`, 'ts=1772619750', `ts=1772619751;h1=${h1}`, `ts=1772619750,h1=${h1}`])
    expect(verify(wrong)).toBeUndefined()
  expect(verify(`ts=1772619750;h1=${h1}`, 1_772_619_750_000 + 6 * minute)).toBeUndefined()
  expect(verify(`ts=1772619750;h1=${h1}`, 1_772_619_750_000, `${body} `)).toBeUndefined()
})

test('Lemon Squeezy: accepts signatures computed by another program, and none that is wrong', () => {
  const body = '{"meta":{"event_name":"cart_opened"},"data":{"id":"1","attributes":{"user_name":"Zoë"}}}'
  const signature = 'd284e8e7c586ae9236c76f459e1d865a31870c3f998c5713584254e51790a8af'
  const verify = (header: string, text = body, secret = 'lemon-signing-secret') =>
    adapters.lemonsqueezy.verify(secret, {
      headers: { 'x-signature': header },
      body: Buffer.from(text),
      now: 0,
    })
  expect(verify(signature)).toEqual({ id: expect.stringMatching(/^[0-9a-f]{64}$/), at: 0 })
  for (const wrong of ['', 'x', signature.slice(1), `0${signature.slice(1)}`])
    expect(verify(wrong)).toBeUndefined()
  expect(verify(signature, `${body} `)).toBeUndefined()
  expect(verify(signature, body, 'lemon-signing-secreT')).toBeUndefined()
})

describe('Gumroad', () => {
  test('has an address with 32 secret characters, and answers 404 under every other', async () => {
    const shop = await addShop('gumroad')
    expect(shop.hook).toMatch(new RegExp(`^/api/hooks/${shop._id}\\.[0-9a-f]{32}$`))
    const request = requestOf('gumroad', sold('gumroad').said, shop.secret, now())
    const { hook: foreign } = await addShop('gumroad')
    const wrong = [
      `/api/hooks/${shop._id}`,
      `/api/hooks/${shop._id}.`,
      `${shop.hook}0`,
      `${shop.hook.slice(0, -1)}z`,
      `/api/hooks/${shop._id}.${foreign.split('.')[1]}`,
    ]
    for (const hook of wrong) expect((await post(hook, request)).statusCode).toBe(404)
    expect(await storedOf(shop)).toEqual([])
    const stored = await on.database.db.selectFrom('shops').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(shop.hook.split('.')[1])
  })

  test('shows its address to those alone who may read secrets, and to no webhook', async () => {
    const { secret: _secret, ...shop } = await addShop('gumroad')
    const path = `/apps/${appId}/shops`
    // The tests before have let the clock run.
    await owner.call('POST', '/auth/confirm', { password: owner.password })
    const key = async (permissions: string[]) => (await makeApiKey(on, owner, { permissions })).key
    const hooksOf = async (token: string) =>
      (await on.call('GET', path, { token })).json.data.shops.map(({ hook }: { hook: string | null }) => hook)
    expect(await hooksOf(await key(['apps:read', 'secrets:read']))).toEqual([shop.hook])
    const reads = await key(['apps:read'])
    const viewer = await addMember(on, owner, { role: 'viewer' })
    const support = await addMember(on, owner, { role: 'support' })
    for (const token of [reads, viewer.token, support.token]) {
      expect(await hooksOf(token)).toEqual([null])
      expect((await on.call('GET', path, { token })).raw.toString()).not.toContain(shop.hook.split('.')[1])
    }
    const writes = await key(['apps:read', 'licenses:write'])
    const renamed = await on.call('PUT', `/shops/${shop._id}`, { token: writes, body: { name: 'Shop' } })
    expect(renamed.json.data.shop.hook).toBeNull()
    // The hooks of other kinds have no secret in them.
    const signed = await addShop('paddle')
    expect(await hooksOf(reads)).toEqual([null, signed.hook])
    const maker = toOwnerActor({
      accountId: owner.accountId,
      ownerId: owner.id,
      sessionId: 'ses_1',
      address: '',
    })
    const question = { ctx: ctxOf(on), maker, id: shop._id, appId, detail: {} }
    expect(await readObject(modules, 'shop', question)).toMatchObject({ _id: shop._id, hook: null })
  })

  test('creates nothing for a sale that Gumroad does not know, or that another seller made', async () => {
    const shop = await addShop('gumroad')
    const ping = (sale_id: string) => ({
      id: sale_id,
      body: new URLSearchParams({ seller_id: gumroadSeller, sale_id, email: 'eve@example.com' }).toString(),
    })
    expect(await deliver(shop, ping('invented'))).toBe(200)
    const { order } = sold('gumroad')
    const { sale } = shops.hosts.gumroad.objects.get(`/v2/sales/${order}`) as { sale: { seller_id: string } }
    sale.seller_id = 'other'
    expect(await deliver(shop, ping(order))).toBe(200)
    await allUsed(on, shop._id)
    expect(await ordersOf(owner, `shop=${shop._id}`)).toEqual([])
    expect(await storedOf(shop)).toMatchObject([{ state: 'ignored' }, { state: 'ignored' }])
  })

  test('takes pings as JSON too, and a test ping of the last sale changes nothing about it', async () => {
    const shop = await addShop('gumroad')
    const { order } = sold('gumroad')
    const ping = { seller_id: gumroadSeller, sale_id: order }
    expect(await deliver(shop, { id: '1', body: JSON.stringify(ping) })).toBe(200)
    await orderOnce(owner, order, { state: 'fulfilled', test: false })
    on.clock.advance(minute)
    expect(await deliver(shop, { id: '2', body: JSON.stringify({ ...ping, test: true }) })).toBe(200)
    await allUsed(on, shop._id)
    const found = await orderOnce(owner, order, { state: 'fulfilled', test: false })
    expect(found.licenses).toHaveLength(1)
  })

  test('creates nothing for a preorder before it is charged', async () => {
    const shop = await addShop('gumroad')
    const { order, said } = sold('gumroad')
    const { sale } = shops.hosts.gumroad.objects.get(`/v2/sales/${order}`) as { sale: object }
    Object.assign(sale, { is_preorder_authorization: true, is_in_preorder_state: true })
    expect(await deliver(shop, said)).toBe(200)
    await allUsed(on, shop._id)
    expect(await ordersOf(owner, `shop=${shop._id}`)).toEqual([])
    const charged = sold('gumroad')
    expect(await deliver(shop, charged.said)).toBe(200)
    expect((await orderOnce(owner, charged.order, { state: 'fulfilled' })).licenses).toHaveLength(1)
  })

  test('tells variants apart, and ends a subscription after the time that was paid', async () => {
    const shop = await addShop('gumroad')
    const { order, said } = sold('gumroad', 'sub')
    const { sale } = shops.hosts.gumroad.objects.get(`/v2/sales/first_${order}`) as { sale: object }
    Object.assign(sale, { variants: { Tier: 'Team' }, subscription_duration: 'yearly' })
    expect(await deliver(shop, said)).toBe(200)
    const reason = 'No license type is chosen for the product “pro/Team”'
    await orderOnce(owner, order, { state: 'waiting', reason })
    await owner.call('PUT', `/shops/${shop._id}`, { products: [{ product: 'pro/Team', type: types.pro }] })
    const found = await orderOnce(owner, order, { state: 'fulfilled' })
    const end = now()
    end.setUTCFullYear(end.getUTCFullYear() + 1)
    expect(await licenseOf(found)).toMatchObject({ expiresAt: end.toISOString() })
  })
})

describe('Paddle', () => {
  test('marks orders of a sandbox key, and asks for rights that a key misses', async () => {
    const sandboxKey = 'pdl_sdbx_apikey_01Orders'
    const shop = await addShop('paddle', { apiKey: sandboxKey })
    const { order, said } = sold('paddle')
    expect(await deliver(shop, said)).toBe(200)
    const unread = 'The order could not be read from the shop.'
    await orderOnce(owner, order, { reason: `${unread} It answered with the status 401.` })
    const { data } = shops.hosts.paddle.objects.get(
      `/transactions/${order}?include=customer,adjustments`,
    ) as {
      data: object
    }
    Object.assign(data, { customer: undefined })
    await owner.call('PUT', `/shops/${shop._id}`, { apiKey: newShopOf('paddle').apiKey })
    await orderOnce(owner, order, { reason: `${unread} Its API key may not read customers.` })
  })

  test('waits with a refund until Paddle approves it, and ignores one that Paddle rejects', async () => {
    const shop = await addShop('paddle')
    const { order, said } = sold('paddle')
    expect(await deliver(shop, said)).toBe(200)
    await orderOnce(owner, order, { state: 'fulfilled' })
    const path = `/transactions/${order}?include=customer,adjustments`
    const { data } = shops.hosts.paddle.objects.get(path) as { data: { adjustments: object[] } }
    const adjustment = { id: 'adj_1', action: 'refund', type: 'full', totals: { total: '1000' } }
    const event = (event_id: string) => ({
      id: event_id,
      body: JSON.stringify({
        ...{ event_id, event_type: 'adjustment.updated', occurred_at: now().toISOString() },
        data: { id: 'adj_1', transaction_id: order },
      }),
    })
    for (const status of ['pending_approval', 'rejected', 'approved']) {
      data.adjustments = [{ ...adjustment, status }]
      expect(await deliver(shop, event(`evt_${status}`))).toBe(200)
      await allUsed(on, shop._id)
      const state = { pending_approval: 'waiting', rejected: 'fulfilled', approved: 'refunded' }[status]
      const found = await orderOnce(owner, order, { state })
      expect(found.reasonCode).toBe(state === 'waiting' ? 'payment_warning' : null)
      expect(await licenseOf(found)).toMatchObject({ banned: state === 'refunded' })
    }
  })

  test('follows a subscription of several products, and says when one of them was replaced', async () => {
    const shop = await addShop('paddle')
    const { order, said } = sold('paddle', 'sub')
    const paidPath = `/transactions/txn_${order}?include=customer,adjustments`
    const { data } = shops.hosts.paddle.objects.get(paidPath) as { data: { items: object[] } }
    const items = [
      { price: { id: 'pro' }, quantity: 1 },
      { price: { id: 'plus' }, quantity: 1 },
    ]
    data.items = items
    expect(await deliver(shop, said)).toBe(200)
    await orderOnce(owner, order, { state: 'fulfilled' })
    const until = new Date(on.clock.now() + 40 * day).toISOString()
    shops.hosts.paddle.objects.set(`/subscriptions/${order}`, {
      data: { status: 'active', current_billing_period: { ends_at: until }, items },
    })
    const updated = (event_id: string) => ({
      id: event_id,
      body: JSON.stringify({
        ...{ event_id, event_type: 'subscription.updated', occurred_at: now().toISOString() },
        data: { id: order },
      }),
    })
    expect(await deliver(shop, updated('evt_same'))).toBe(200)
    await allUsed(on, shop._id)
    const found = await orderOnce(owner, order, { state: 'fulfilled' })
    expect(await licenseOf(found)).toMatchObject({ expiresAt: until })
    items[1] = { price: { id: 'team' }, quantity: 1 }
    on.clock.advance(minute)
    expect(await deliver(shop, updated('evt_replaced'))).toBe(200)
    await orderOnce(owner, order, { state: 'waiting' })
  })

  test('keeps the license type when a product is added to a subscription, and says so', async () => {
    const shop = await addShop('paddle')
    const { order, said } = sold('paddle', 'sub')
    expect(await deliver(shop, said)).toBe(200)
    const before = await licenseOf(await orderOnce(owner, order, { state: 'fulfilled' }))
    const until = new Date(on.clock.now() + 40 * day).toISOString()
    const items = ['plus', 'pro'].map((id) => ({ price: { id }, quantity: 1 }))
    shops.hosts.paddle.objects.set(`/subscriptions/${order}`, {
      data: { status: 'active', current_billing_period: { ends_at: until }, items },
    })
    on.clock.advance(minute)
    const event = {
      event_id: 'evt_added',
      event_type: 'subscription.updated',
      occurred_at: now().toISOString(),
    }
    const body = JSON.stringify({ ...event, data: { id: order } })
    expect(await deliver(shop, { id: 'evt_added', body })).toBe(200)
    const reason = expect.stringContaining('added the product “plus”')
    const found = await orderOnce(owner, order, { state: 'waiting', reason })
    expect(await licenseOf(found)).toMatchObject({ expiresAt: until, type: before.type })
    // The vendor has seen to it.
    const products = [
      { product: 'pro', type: types.pro },
      { product: 'plus', type: null },
    ]
    await owner.call('PUT', `/shops/${shop._id}`, { products })
    await owner.call('POST', `/orders/${found._id}/retry`)
    await orderOnce(owner, order, { state: 'fulfilled' })
  })
})

describe('Lemon Squeezy', () => {
  test('reads the order of a refunded renewal back, and says that it needs an API key for it', async () => {
    const { apiKey, ...wanted } = newShopOf('lemonsqueezy', products())
    const { shop } = (await owner.call('POST', `/apps/${appId}/shops`, wanted)).json.data
    const own: Shop = { ...shop, secret: wanted.secret }
    const { order, said } = sold('lemonsqueezy', 'sub')
    expect(await deliver(own, said)).toBe(200)
    await orderOnce(owner, order, { state: 'fulfilled' })
    const updated_at = now().toISOString()
    const body = JSON.stringify({
      meta: { event_name: 'subscription_payment_refunded' },
      data: { id: '7', attributes: { subscription_id: 55, total: 1000, refunded_amount: 1000, updated_at } },
    })
    expect(await deliver(own, { id: 'refund', body })).toBe(200)
    const reason = 'The order could not be read from the shop. It has no API key.'
    await orderOnce(owner, 'subscription 55', { state: 'waiting', reason })
    shops.hosts.lemonsqueezy.objects.set('/v1/subscriptions/55', {
      data: { id: '55', attributes: { order_id: order } },
    })
    await owner.call('PUT', `/shops/${own._id}`, { apiKey })
    await orderOnce(owner, order, { state: 'refunded' })
    expect(await ordersOf(owner, `search=${encodeURIComponent('subscription 55')}`)).toEqual([])
  })

  test('takes whatever a buyer has typed, as one line of 200 characters', async () => {
    const shop = await addShop('lemonsqueezy')
    const { order, said } = sold('lemonsqueezy')
    const told = JSON.parse(said.body)
    const attributes = {
      user_name: `Ada\u0000\n\ud800 ${'x'.repeat(5000)}`,
      user_email: ' Ada.Typed\u0000@example.com',
    }
    Object.assign(told.data.attributes, attributes)
    expect(await deliver(shop, { ...said, body: JSON.stringify(told) })).toBe(200)
    const found = await orderOnce(owner, order, { state: 'fulfilled', email: 'Ada.Typed@example.com' })
    expect(found.name).toMatch(/^Ada +x{190,}$/)
    expect(found.name.length).toBeLessThanOrEqual(200)
  })

  test('creates nothing for an order that is not paid or a fraud', async () => {
    const shop = await addShop('lemonsqueezy')
    for (const status of ['pending', 'failed', 'fraudulent']) {
      const { said } = sold('lemonsqueezy')
      const body = said.body.replace('"status":"paid"', `"status":"${status}"`)
      expect(body).not.toBe(said.body)
      expect(await deliver(shop, { ...said, body })).toBe(200)
    }
    await allUsed(on, shop._id)
    expect(await ordersOf(owner, `shop=${shop._id}`)).toEqual([])
  })

  test('answers 400 to a signed event that misses something, and ignores one of another type', async () => {
    const shop = await addShop('lemonsqueezy')
    const event = (event_name: string) => ({
      id: event_name,
      body: JSON.stringify({ meta: { event_name }, data: { id: '1', attributes: {} } }),
    })
    expect(await deliver(shop, event('order_created'))).toBe(400)
    expect(await deliver(shop, event('license_key_created'))).toBe(200)
    expect(await storedOf(shop)).toMatchObject([{ state: 'ignored', body: null }])
  })
})

// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { limits } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { day, minute } from '../../src/core/clock.ts'
import { refusal, signUp, wrongFields } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import { times } from '../rounds.ts'
import { makeShop, makeType, orderOnce, ordersOf, postShop, sell } from '../shop-actor.ts'
import { newShopSecret, paid, signedRequest } from '../shop-events.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const shopWithPro = async (wanted: object = {}) => {
  const type = await makeType(owner, app._id, wanted)
  return { ...(await makeShop(owner, app._id, [{ product: 'pro', type }])), type }
}
const licenseOf = async (order: { licenses: { _id: string }[] }) =>
  (await owner.call('GET', `/licenses/${order.licenses[0]?._id}`)).json.data.license

describe('a shop', () => {
  test('is listed with its address, and neither stores, shows nor records its secret', async () => {
    const { secret, type, ...shop } = await shopWithPro()
    expect(shop).toEqual({
      _id: expect.stringMatching(/^shp_/),
      app: { _id: app._id, name: app.name, appId: app.appId },
      kind: 'custom',
      name: 'My shop',
      products: [{ product: 'pro', type, quantity: 1 }],
      hook: `/api/hooks/${shop._id}`,
      active: true,
      lastEventAt: null,
      waiting: 0,
      createdAt: on.clock.inDays(0),
    })
    await owner.call('PUT', `/shops/${shop._id}`, { secret: newShopSecret() })
    const { db } = on.database
    const stored = [
      await db.selectFrom('shops').selectAll().execute(),
      await db.selectFrom('audit').selectAll().where('target_id', '=', shop._id).execute(),
      (await owner.call('GET', `/apps/${app._id}/shops`)).json.data.shops,
    ]
    expect(stored[2]).toEqual([shop])
    expect(JSON.stringify(stored)).not.toContain(secret.slice(6))
  })

  test.each([['short'], ['whsec_c2hvcnQ='], [`whsec_${'A'.repeat(100)}!`]])(
    'refuses the secret %s',
    async (secret) => {
      const body = { kind: 'custom', name: 'Shop', secret }
      expect(wrongFields(await postShop(owner, app._id, body))).toEqual(['secret'])
    },
  )

  test('refuses license types of another app', async () => {
    const other = await signUp(on)
    const { _id } = (await other.call('POST', '/apps', { name: 'Other' })).json.data.app
    const products = [{ product: 'pro', type: await makeType(other, _id) }]
    const body = { kind: 'custom', name: 'Shop', secret: newShopSecret(), products }
    expect(wrongFields(await postShop(owner, app._id, body))).toEqual(['products.0.type'])
    const shop = await makeShop(owner, app._id)
    expect(wrongFields(await owner.call('PUT', `/shops/${shop._id}`, { products }))).toEqual([
      'products.0.type',
    ])
  })

  test('is one of at most 20 of its app, also under concurrent calls', async () => {
    const body = { kind: 'custom', name: 'Shop', secret: newShopSecret() }
    const answers = await times(limits.shopsMax + 6, () => postShop(owner, app._id, body))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(limits.shopsMax)
    expect(answers.filter((answer) => answer.status !== 201).map(refusal)).toEqual(
      Array(6).fill('shops_full'),
    )
  })

  test('lets a test order arrive, which is marked and has no customer', async () => {
    const shop = await shopWithPro()
    const { order } = (await owner.call('POST', `/shops/${shop._id}/test`)).json.data
    const found = await orderOnce(owner, order, { state: 'fulfilled' })
    expect(found).toMatchObject({ test: true, customer: null, mail: 'none', email: 'test@example.com' })
    expect(found.licenses).toHaveLength(1)
  })

  test('keeps what arrives while it is paused, and uses it once it is resumed', async () => {
    const shop = await shopWithPro()
    await owner.call('PUT', `/shops/${shop._id}`, { active: false })
    expect(refusal(await owner.call('POST', `/shops/${shop._id}/test`))).toBe('shop_paused')
    expect(await sell(on, shop, paid('paused-1'))).toBe(200)
    expect(await ordersOf(owner, 'search=paused-1')).toEqual([])
    await owner.call('PUT', `/shops/${shop._id}`, { active: true })
    await orderOnce(owner, 'paused-1', { state: 'fulfilled' })
  })

  test('that is deleted answers 404, and keeps its orders and licenses', async () => {
    const shop = await shopWithPro()
    await sell(on, shop, paid('deleted-1'))
    const order = await orderOnce(owner, 'deleted-1', { state: 'fulfilled' })
    expect((await owner.call('DELETE', `/shops/${shop._id}`)).status).toBe(200)
    expect(await sell(on, shop, paid('deleted-2'))).toBe(404)
    expect((await owner.call('PUT', `/shops/${shop._id}`, { name: 'Again' })).status).toBe(404)
    expect(await ordersOf(owner, 'search=deleted-1')).toEqual([order])
    expect((await licenseOf(order)).status).toBe('unused')
  })
})

describe('a hook', () => {
  const send = (
    shop: { hook: string },
    request: { payload: string | Buffer; headers: object },
    from = '::1',
  ) =>
    on.server.inject({
      method: 'POST',
      url: shop.hook,
      remoteAddress: from,
      payload: request.payload,
      headers: request.headers as Record<string, string>,
    })
  const now = () => new Date(on.clock.now())

  test('answers 200 only after the event is stored', async () => {
    const shop = await shopWithPro()
    expect(await sell(on, shop, { ...paid('stored-1'), id: 'msg_stored' })).toBe(200)
    const rows = await on.database.db
      .selectFrom('shop_events')
      .selectAll()
      .where('shop_id', '=', shop._id)
      .execute()
    expect(rows).toMatchObject([{ event_id: 'msg_stored', body: expect.stringContaining('stored-1') }])
  })

  test('refuses wrong, missing, foreign and old signatures alike', async () => {
    const shop = await shopWithPro()
    const other = await shopWithPro()
    const valid = signedRequest(shop.secret, paid('forged'), now())
    const wrong = [
      { ...valid, payload: valid.payload.replace('ada@', 'eve@') },
      { ...valid, headers: { ...valid.headers, 'webhook-id': 'msg_other' } },
      { ...valid, headers: { ...valid.headers, 'webhook-signature': 'v1,' } },
      { ...valid, headers: { ...valid.headers, 'webhook-signature': '' } },
      { ...valid, headers: { 'content-type': 'application/json' } },
      signedRequest(other.secret, paid('forged'), now()),
      signedRequest(shop.secret, paid('forged'), new Date(on.clock.now() - 6 * minute)),
      signedRequest(shop.secret, paid('forged'), new Date(on.clock.now() + 6 * minute)),
    ]
    const answers = await Promise.all(wrong.map((request) => send(shop, request)))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(wrong.map(() => 401))
    expect(new Set(answers.map(({ json }) => json().message)).size).toBe(1)
    expect(await ordersOf(owner, 'search=forged')).toEqual([])
  })

  test('accepts one of several signatures, as while a secret is replaced', async () => {
    const shop = await shopWithPro()
    const { payload, headers } = signedRequest(shop.secret, paid('rotated'), now())
    const both = `v1,${Buffer.alloc(32).toString('base64')} ${headers['webhook-signature']}`
    expect(
      (await send(shop, { payload, headers: { ...headers, 'webhook-signature': both } })).statusCode,
    ).toBe(200)
  })

  test('checks the signature of the bytes, whatever the media type', async () => {
    const shop = await shopWithPro()
    const { payload, headers } = signedRequest(shop.secret, paid('form'), now())
    const type = 'application/x-www-form-urlencoded'
    expect((await send(shop, { payload, headers: { ...headers, 'content-type': type } })).statusCode).toBe(
      200,
    )
    await orderOnce(owner, 'form', { state: 'fulfilled' })
  })

  test('answers 404 for an unknown address, and 413 beyond 256 KiB', async () => {
    const shop = await shopWithPro()
    const { headers } = signedRequest(shop.secret, paid('large'), now())
    expect((await send({ hook: '/api/hooks/shp_unknown' }, { payload: '{}', headers })).statusCode).toBe(404)
    const large = Buffer.alloc(262_145, ' ')
    expect((await send(shop, { payload: large, headers })).statusCode).toBe(413)
  })

  test('reports a signed event that has no order, and ignores one of another type', async () => {
    const shop = await shopWithPro()
    expect(await sell(on, shop, { type: 'order.paid', data: { email: 'no order' } })).toBe(400)
    expect(await sell(on, shop, { type: 'cart.opened', data: {} })).toBe(200)
    const { shops } = (await owner.call('GET', `/apps/${app._id}/shops`)).json.data
    expect(shops[0].lastEventAt).toBe(on.clock.inDays(0))
  })
})

// Last, because sessions end in that time.
test('erases bodies 30 days after they were used, and keeps what they said', async () => {
  const shop = await shopWithPro()
  await sell(on, shop, paid('old-1'))
  await sell(on, shop, { type: 'cart.opened', data: {} })
  await orderOnce(owner, 'old-1', { state: 'fulfilled' })
  on.clock.advance(limits.shopEventDays * day + minute)
  await tidyUp(on)
  const rows = await on.database.db
    .selectFrom('shop_events')
    .select(['body', 'fact', 'state'])
    .where('shop_id', '=', shop._id)
    .execute()
  expect(rows).toEqual([{ state: 'done', body: null, fact: expect.stringContaining('old-1') }])
})

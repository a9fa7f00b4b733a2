import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { minute } from '../src/core/clock.ts'
import type { Owner } from './actors.ts'
import { eventually } from './eventually.ts'
import type { TestServer } from './harness.ts'
import { newShopSecret, paid, type SoldEvent, signedRequest } from './shop-events.ts'

type Caller = Pick<Owner, 'call'>

/** A license type of an app, for products. */
export async function makeType(owner: Caller, appId: string, wanted: object = {}): Promise<string> {
  const body = { name: `Type ${randomUUID()}`, term: 'forever', ...wanted }
  const answer = await owner.call('POST', `/apps/${appId}/license-types`, body)
  return answer.json.data.licenseType._id
}

/** Adds a shop; an owner whose last proof of identity is too old proves it again. */
export async function postShop(
  owner: Caller & Partial<Pick<Owner, 'password'>>,
  appId: string,
  body: object,
) {
  const post = () => owner.call('POST', `/apps/${appId}/shops`, body)
  const answer = await post()
  if (answer.json.code !== 'confirm_identity' || owner.password === undefined) return answer
  await owner.call('POST', '/auth/confirm', { password: owner.password })
  return post()
}

/** A shop of one's own, with its secret. */
export async function makeShop(
  owner: Caller,
  appId: string,
  products: object[] = [],
  secret = newShopSecret(),
) {
  const body = { kind: 'custom', name: 'My shop', secret, products }
  const answer = await postShop(owner, appId, body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.json))
  return { ...answer.json.data.shop, secret } as { _id: string; hook: string; secret: string }
}

/** Sends an event as the shop does, and returns the status. */
export async function sell(
  on: TestServer,
  shop: { hook: string; secret: string },
  event: SoldEvent,
): Promise<number> {
  const request = signedRequest(shop.secret, event, new Date(on.clock.now()))
  const answer = await on.server.inject({ method: 'POST', url: shop.hook, ...request })
  return answer.statusCode
}

export const ordersOf = async (owner: Caller, query: string) =>
  (await owner.call('GET', `/orders?${query}`)).json.data.orders

/** An order, once it is as expected and its mail has ended. */
export const orderOnce = (owner: Caller, number: string, expected: object) =>
  eventually(async () => {
    const [order] = await ordersOf(owner, `search=${encodeURIComponent(number)}`)
    expect(order).toMatchObject(expected)
    if (!('mail' in expected)) expect(order.mail).not.toBe('queued')
    return order
  })

/** An order of a product without a license type. */
export async function makeWaitingOrder(
  on: TestServer,
  owner: Caller,
  shop: { hook: string; secret: string },
  wanted: object = {},
): Promise<{ _id: string }> {
  const number = `waiting-${randomUUID()}`
  expect(await sell(on, shop, paid(number, wanted))).toBe(200)
  return orderOnce(owner, number, { state: 'waiting' })
}

/** An order whose mail has ended. */
export async function makeMailedOrder(
  on: TestServer,
  owner: Caller,
  appId: string,
): Promise<{ _id: string }> {
  const shop = await makeShop(owner, appId, [{ product: 'pro', type: await makeType(owner, appId) }])
  const number = `mailed-${randomUUID()}`
  expect(await sell(on, shop, paid(number))).toBe(200)
  return orderOnce(owner, number, { mail: expect.stringMatching(/^(sent|failed)$/) })
}

/** Waits until every event of a shop was used, or waits for something. */
export const allUsed = (on: TestServer, shopId: string, limits: { interval?: number } = {}) =>
  eventually(async () => {
    const rows = await on.database.db
      .selectFrom('shop_events')
      .select('seq')
      .where('shop_id', '=', shopId)
      .where('due_at', '<=', on.clock.now() + 50_000)
      .execute()
    expect(rows).toEqual([])
  }, limits)

/** Waits until the server has looked for ended licenses of an app after the clock moved; later no further mail is queued for them. */
export const lookedAtEnds = ({ database, clock }: TestServer, appId: string) =>
  eventually(async () => {
    const settings = database.db.selectFrom('customer_mail_settings').select('look_at')
    const { look_at } = await settings.where('app_id', '=', appId).executeTakeFirstOrThrow()
    // While a process looks at it, it is ten minutes.
    expect(look_at).toBeGreaterThan(clock.now())
    expect(look_at).toBeLessThan(clock.now() + 9 * minute)
  })

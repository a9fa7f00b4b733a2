// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { beforeAll, expect, test } from 'vitest'
import { makeApp, startProgram } from '../actors.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makeShop, makeType, orderOnce, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const stranger = premiumOwnerForAll(on)
const app = appForAll(owner)

interface Hit {
  _id: string
  match?: { field: string; text: string }
}

const find = async (who: typeof owner, list: 'licenses' | 'clients', text: string, query = '') => {
  const { status, json } = await who.call('GET', `/${list}?search=${encodeURIComponent(text)}${query}`)
  expect(status, JSON.stringify(json)).toBe(200)
  return (json.data[list] as Hit[]).map(({ _id, match }) => ({ _id, match }))
}

const makeLicense = async (who: typeof owner, appId: string, customer?: string) => {
  const body = { app: appId, expiresAt: on.clock.inDays(30), ...(customer && { customer }) }
  const answer = await who.call('POST', '/licenses', body)
  expect(answer.status).toBe(201)
  return answer.json.data.license as { _id: string; key: string }
}

async function register(username: string, { key }: { key: string }) {
  const program = await startProgram(on, app)
  const body = { username, password: 'swordfish', licenseKey: key }
  expect((await program.call('POST', '/register', body)).status).toBe(200)
}

let number: string
let sold: { _id: string; key: string }
beforeAll(async () => {
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  number = 'INV/2026-000417'
  expect(await sell(on, shop, paid(number))).toBe(200)
  const order = await orderOnce(owner, number, { state: 'fulfilled' })
  sold = order.licenses[0]
})

test('the number of an order finds the licenses that it created, and who uses them', async () => {
  const match = { field: 'order', text: number }
  expect(await find(owner, 'licenses', ` ${number} `)).toEqual([{ _id: sold._id, match }])
  expect(await find(owner, 'licenses', number, `&app=${app._id}&status=unused`)).toHaveLength(1)
  expect(await find(owner, 'licenses', number.slice(0, -1))).toEqual([])
  await register('who-bought', sold)
  const [user] = await find(owner, 'clients', number)
  expect(user).toMatchObject({ match })
})

test('the beginning of an address finds what a customer bought, before anybody uses it', async () => {
  const { _id } = await makeLicense(owner, app._id, 'Ada.Buyer@Example.com')
  await makeLicense(owner, app._id)
  const match = { field: 'customer', text: 'Ada.Buyer@Example.com' }
  for (const text of ['ada.buyer@example.com', 'ADA.BUY', ' ada.b ']) {
    expect(await find(owner, 'licenses', text)).toEqual([{ _id, match }])
  }
  expect(await find(owner, 'licenses', 'buyer@example.com')).toEqual([])
  expect(await find(owner, 'licenses', 'ada.buy', '&status=expired')).toEqual([])
  expect(await find(owner, 'licenses', 'ada.buy', '&sort=expires_last')).toHaveLength(1)
})

test('the address of a customer finds its end users, by their license and by their own link', async () => {
  const license = await makeLicense(owner, app._id, 'bea@example.org')
  await register('bea-by-license', license)
  const body = {
    username: 'bea-by-link',
    password: 'long-enough-1',
    appId: app._id,
    expiresAt: on.clock.inDays(9),
  }
  const linked = (await owner.call('POST', '/clients/create-direct', body)).json.data.client
  const { status } = await owner.call('PATCH', `/clients/${linked._id}`, { customer: 'bea@example.org' })
  expect(status).toBe(200)
  const users = await find(owner, 'clients', 'bea@exam')
  expect(users).toHaveLength(2)
  for (const { match } of users) expect(match).toEqual({ field: 'customer', text: 'bea@example.org' })
})

test('another vendor, and a member with other apps, find neither', async () => {
  await makeLicense(owner, app._id, 'cyd@example.net')
  const other = await makeApp(owner)
  await makeLicense(stranger, (await makeApp(stranger))._id, 'dan@example.net')
  for (const text of ['cyd@example', number]) {
    expect(await find(stranger, 'licenses', text)).toEqual([])
    expect(await find(stranger, 'clients', text)).toEqual([])
    expect(await find(owner, 'licenses', text, `&app=${other._id}`)).toEqual([])
  }
  expect(await find(owner, 'licenses', 'dan@example')).toEqual([])
})

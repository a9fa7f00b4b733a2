import { expect, test } from 'vitest'
import { day, dayNumber } from '../../src/core/clock.ts'
import { makeApp, makePremium, type Owner, signUp } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'
import { makeShop, makeWaitingOrder } from '../shop-actor.ts'

const on = serverForAll()

test('a person sees what waits for it, as far as its role may read it, and nothing once it is settled', async () => {
  const { db } = on.database
  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner, 'Atlas')
  const seen = async ({ call }: Pick<Owner, 'call'> = owner) => (await call('GET', '/attention')).json.data
  expect(await seen()).toEqual({ attention: [], sendsMail: false })

  const shop = await makeShop(owner, app._id)
  await makeWaitingOrder(on, owner, shop)
  const { webhook } = (
    await owner.call('POST', '/webhooks', { url: 'https://hooks.example/a', events: ['*'] })
  ).json.data
  await db
    .updateTable('webhooks')
    .set({ active: 0, pause_reason: 'failing' })
    .where('id', '=', webhook._id)
    .execute()
  const made = await owner.call('POST', '/resellers', {
    ...{ app_id: app._id, email: 'partner@example.com', password: 'a long password' },
    allowed_license_keys: 10,
  })
  const reseller = made.json.data
  const sell = { app: app._id, expiresAt: null, count: 9, reseller: reseller._id }
  expect((await owner.call('POST', '/licenses', sell)).status).toBe(201)
  const expiresAt = new Date(on.clock.now() + 10 * day).toISOString()
  const { apiKey } = (
    await owner.call('POST', '/api-keys', { name: 'Nightly', permissions: ['apps:read'], expiresAt })
  ).json.data
  const today = dayNumber(on.clock.now())
  const refused = { app_id: app._id, owner_id: owner.id, metric: 'refusals' as const }
  await db
    .insertInto('daily_counts')
    .values([
      { ...refused, day: today, n: 80 },
      { ...refused, day: today - 3, n: 70 },
    ])
    .execute()

  const ofApp = { _id: app._id, name: 'Atlas', appId: app.appId }
  const rising = { kind: 'refusals_rise', app: ofApp, recent: 80, usual: 10 }
  const orders = { kind: 'orders_waiting', count: 1 }
  const full = { kind: 'reseller_quota', _id: reseller._id, email: 'partner@example.com', remaining: 1 }
  expect((await seen()).attention).toEqual([
    orders,
    { kind: 'webhook_paused', _id: webhook._id, origin: 'https://hooks.example' },
    rising,
    full,
    { kind: 'api_key_ends', _id: apiKey._id, name: 'Nightly', expiresAt },
  ])
  const support = await addMember(on, owner, { role: 'support', apps: null })
  expect((await seen(support)).attention).toEqual([orders, rising])
  const other = await makeApp(owner, 'Other')
  const ofOther = await addMember(on, owner, { role: 'manager', apps: [other._id] })
  expect((await seen(ofOther)).attention).toEqual([])
  expect(
    (await owner.call('PUT', `/shops/${shop._id}`, { products: [{ product: 'pro', type: null }] })).status,
  ).toBe(200)
  await db.deleteFrom('daily_counts').where('app_id', '=', app._id).execute()
  await owner.call('PUT', `/resellers/${reseller._id}`, { licenseLimit: 100 })
  await owner.call('DELETE', `/api-keys/${apiKey._id}`)
  await owner.call('DELETE', `/webhooks/${webhook._id}`)
  await db.updateTable('shop_orders').set({ state: 'fulfilled' }).where('owner_id', '=', owner.id).execute()
  expect((await seen()).attention).toEqual([])
})

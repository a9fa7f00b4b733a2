// On PostgreSQL in the full run: renewals and orders send the same statements there.
import { randomUUID } from 'node:crypto'
import type { ShopKind } from '@keyward/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adviceOn } from '../../../console/src/features/apps/types/shop-links.ts'
import { day, hour } from '../../src/core/clock.ts'
import { makeApp, makePremium, signUp, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { eventually } from '../eventually.ts'
import { startServer, type TestServer } from '../harness.ts'
import { textsTo } from '../mailed.ts'
import { someOf } from '../rounds.ts'
import { allUsed, lookedAtEnds, makeType, orderOnce, ordersOf, postShop } from '../shop-actor.ts'
import { kinds, newShopOf, protocols, requestOf, startShopHosts, toTold } from '../shop-protocols.ts'
import { SmtpSink } from '../smtp-sink.ts'

/** What each kind of shop returns of its links, by its documents; for Paddle the vendor's own page passes it on. */
const parameters: Record<ShopKind, string> = {
  custom: 'reference',
  stripe: 'client_reference_id',
  paddle: 'reference',
  lemonsqueezy: 'checkout[custom][reference]',
  gumroad: 'reference',
}

let shops: Awaited<ReturnType<typeof startShopHosts>>
let sink: SmtpSink
let on: TestServer
beforeAll(async () => {
  shops = await startShopHosts()
  sink = await SmtpSink.start()
  const environment = { ...shops.environment, SMTP_URL: `smtp://${sink.host}` }
  on = await startServer({ ...environment, PUBLIC_URL: 'http://127.0.0.1:4000' }, { deliveriesEveryMs: 50 })
})
afterAll(async () => {
  await on.close()
  await sink.stop()
  shops.close()
})

const addresses: Record<ShopKind, string> = {
  custom: 'https://shop.example.com/',
  stripe: 'https://buy.stripe.com/',
  paddle: 'https://pay.example.com/',
  lemonsqueezy: 'https://me.lemonsqueezy.com/checkout/buy/',
  gumroad: 'https://me.gumroad.com/l/',
}
/** As the console mends it. */
function linkOf(kind: ShopKind, what: string): string {
  const link = `${addresses[kind]}${what}`
  return adviceOn(link)?.better ?? link
}
const referenceIn = (kind: ShopKind, link: string) => new URL(link).searchParams.get(parameters[kind])

async function sellerOf(kind: ShopKind) {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const vendor = await makeApiKey(on, owner, {
    permissions: ['licenses:read', 'licenses:write', 'clients:read'],
  })
  const app = await makeApp(owner)
  const time = { term: 'date', duration: { value: 3, unit: 'hours' } }
  const team = await makeType(owner, app._id, { ...time, features: ['team'] })
  const pro = await makeType(owner, app._id, {
    ...{ ...time, features: ['base'], renewUrl: linkOf(kind, 'renew') },
    upgrades: [{ type: team, name: 'Team', url: linkOf(kind, 'team') }],
  })
  const products = Object.entries({ pro, team }).map(([product, type]) => ({ product, type }))
  const wanted = newShopOf(kind, products)
  const { shop } = (await postShop(owner, app._id, wanted)).json.data
  const send = async (type: string, data: object) => {
    const now = new Date(on.clock.now())
    const said = protocols[kind].say(toTold({ type, data }, now), shops.hosts[kind])
    const { payload, headers } = requestOf(kind, said, wanted.secret, now)
    const answer = await on.server.inject({ method: 'POST', url: shop.hook, payload, headers })
    expect(answer.statusCode).toBe(200)
  }
  const buy = async (email: string, link?: string, { product = 'pro', kindOf = 'order' } = {}) => {
    const order = `${kindOf}-${randomUUID()}`
    const reference = link && referenceIn(kind, link)
    const lines = [{ product, quantity: 1 }]
    await send('order.paid', {
      order,
      email,
      amount: 1000,
      currency: 'USD',
      lines,
      ...(reference && { reference }),
    })
    return orderOnce(vendor, order, { state: 'fulfilled' })
  }
  const tell = async (type: string, data: object) => {
    await send(type, data)
    await allUsed(on, shop._id)
  }
  const refund = async (order: string) => {
    await tell('order.refunded', { order })
    await orderOnce(vendor, order, { state: 'refunded' })
  }
  return { app, owner, vendor, buy, refund, tell }
}

test.each(kinds)(
  'who buys again at a shop of %s keeps the key, and a running program goes on',
  async (kind) => {
    const { app, vendor, buy, refund } = await sellerOf(kind)
    const [{ _id, key: licenseKey }] = (await buy(`ada@${kind}.example`)).licenses
    const program = await startProgram(on, app)
    const signIn = () => program.call('POST', '/license', { licenseKey, hwid: 'pc-1' })
    expect((await signIn()).status).toBe(200)
    const check = async () => (await program.call('GET', '/session')).json
    const endsIn = async (hours: number) =>
      expect((await check()).data.user.expiresAt).toBe(on.clock.inDays(hours / 24))
    on.clock.advance(4 * hour)
    expect((await check()).code).toBe('noActiveSubs')
    const refused = await (await startProgram(on, app)).call('POST', '/license', { licenseKey, hwid: 'pc-1' })
    const { renew, upgrades } = refused.json.details.links

    const renewal = await buy(`ada@${kind}.example`, renew)
    expect(renewal).toMatchObject({ licenses: [], renewed: { _id } })
    await endsIn(3)
    const both = await Promise.all([buy(`ada@${kind}.example`, renew), buy(`eve@${kind}.example`, renew)])
    for (const one of both) expect(one).toMatchObject({ licenses: [], renewed: { _id } })
    await endsIn(9)

    // A stranger's order has neither the license's key nor its customer, and its receipt names neither.
    const [, stranger] = both
    await eventually(async () => expect(textsTo(sink, `eve@${kind}.example`)).toHaveLength(1))
    const [receipt] = sink.received.filter(({ to }) => to.includes(`eve@${kind}.example`))
    const [told] = textsTo(sink, `eve@${kind}.example`)
    expect(told).toContain(stranger.order)
    for (const secret of [licenseKey, 'kwr_', `ada@${kind}.example`])
      expect(`${receipt?.head}${told}`).not.toContain(secret)
    const customers = await on.database.db
      .selectFrom('licenses as l')
      .innerJoin('customers as c', 'c.id', 'l.customer_id')
      .select('c.email')
      .where('l.app_id', '=', app._id)
      .execute()
    expect(customers).toEqual([{ email: `ada@${kind}.example` }])
    await refund(stranger.order)
    await endsIn(6)

    const upgrade = await buy(`ada@${kind}.example`, upgrades[0].url, { product: 'team' })
    expect(upgrade).toMatchObject({ licenses: [], renewed: { _id } })
    expect((await check()).data.user.features).toEqual(expect.arrayContaining(['team']))
    await refund(upgrade.order)
    expect((await check()).data.user.features).toEqual(['base'])
    await endsIn(6)
    const { license } = (await vendor.call('GET', `/licenses/${_id}`)).json.data
    expect(license).toMatchObject({ key: licenseKey, banned: false })
    expect(await ordersOf(vendor, `license=${_id}`)).toHaveLength(5)
  },
)

test('a date for many counts for a license whose order is refunded afterwards, unless it is undone', async () => {
  const { app, vendor, buy, refund } = await sellerOf('custom')
  const endOf = async (id: string) =>
    (await vendor.call('GET', `/licenses/${id}`)).json.data.license.expiresAt
  const makeRenewed = async () => {
    const [{ _id, key: licenseKey }] = (await buy(`${randomUUID()}@example.com`)).licenses
    const signedIn = await (await startProgram(on, app)).call('POST', '/license', { licenseKey, hwid: _id })
    const { order } = await buy('ada@again.example', signedIn.json.data.user.links.renew)
    return { _id, order }
  }
  const [first, undone] = [await makeRenewed(), await makeRenewed()]
  const [ends, expiresAt] = [await endOf(first._id), on.clock.inDays(5 / 24)]
  const extend = async (id: string) =>
    (await vendor.call('POST', '/licenses/bulk', { action: 'extend', ids: [id], expiresAt })).json.data
  expect(await extend(first._id)).toMatchObject({ changed: 0 })
  expect(await extend(first._id)).toMatchObject({ changed: 0, undo: [] })
  expect(await endOf(first._id)).toBe(ends)
  await refund(first.order)
  expect(await endOf(first._id)).toBe(expiresAt)

  const { undo } = await extend(undone._id)
  expect((await vendor.call('POST', '/licenses/bulk/undo', { undo })).status).toBe(200)
  expect(await endOf(undone._id)).toBe(ends)
  await refund(undone.order)
  expect(await endOf(undone._id)).toBe(on.clock.inDays(3 / 24))
})

test('the later end of a type counts once the orders that hid it are refunded', async () => {
  const { app, owner, vendor, buy, refund } = await sellerOf('custom')
  const [{ _id, key: licenseKey }] = (await buy(`${randomUUID()}@example.com`)).licenses
  const signedIn = await (await startProgram(on, app)).call('POST', '/license', { licenseKey, hwid: _id })
  const { renew, upgrades } = signedIn.json.data.user.links
  // The upgrade lasts beyond the own end, and the renewal follows it.
  on.clock.advance(2 * hour)
  const { order: upgrade } = await buy('ada@again.example', upgrades[0].url, { product: 'team' })
  const { order: more } = await buy('ada@again.example', renew)
  const longer = await makeType(owner, app._id, { term: 'date', duration: { value: 4, unit: 'hours' } })
  const read = async () => (await vendor.call('GET', `/licenses/${_id}`)).json.data.license
  const before = await read()
  const hours = (iso: string) => Math.round((Date.parse(iso) - Date.parse(before.createdAt)) / hour)
  expect(hours(before.expiresAt)).toBe(8)
  const change = () => vendor.call('PUT', `/licenses/${_id}`, { type: longer, end: 'later' })
  expect((await change()).json.data.license.expiresAt).toBe(before.expiresAt)
  const { grants } = await read()
  expect(grants).toHaveLength(before.grants.length + 1)
  await change()
  expect((await read()).grants).toEqual(grants)
  for (const order of [upgrade, more]) await refund(order)
  expect(hours((await read()).expiresAt)).toBe(4)
})

test.each(someOf(kinds, 3))(
  'the customer of a subscription at a shop of %s is told when a payment fails and when it is canceled, and not while it goes on',
  async (kind) => {
    const { app, owner, vendor, buy, tell } = await sellerOf(kind)
    const email = `sub@${kind}.example`
    const [{ _id, key: licenseKey }] = (await buy(email)).licenses
    const signIn = async () =>
      (await startProgram(on, app)).call('POST', '/license', { licenseKey, hwid: 'pc-1' })
    const { renew } = (await signIn()).json.data.user.links
    const { order } = await buy(email, renew, { kindOf: 'sub' })
    const endOf = async () => (await vendor.call('GET', `/licenses/${_id}`)).json.data.license.expiresAt
    const pay = () => tell('subscription.renewed', { order, until: on.clock.inDays(10) })
    const told = ['renewed sent']
    /** What the console shows of the mails an hour later. */
    const isTold = async (...kindsOf: string[]) => {
      told.push(...kindsOf.map((one) => `${one} sent`))
      on.clock.advance(hour)
      await lookedAtEnds(on, app._id)
      await eventually(async () => {
        const { mails } = (await vendor.call('GET', `/customer-mails?app=${app._id}`)).json.data
        const said = mails.map(({ kind: one, state }: Record<string, string>) => `${one} ${state}`)
        expect(said.toReversed()).toEqual(told)
      })
    }

    await pay()
    const wanted = { endsSoonDays: [14], ended: true, paymentFailed: true }
    expect((await owner.call('PUT', `/apps/${app._id}/customer-mails`, wanted)).status).toBe(200)
    on.clock.advance(4 * hour)
    await isTold()
    await tell('subscription.payment_failed', { order })
    expect((await signIn()).json.details.links.renew).toBe(renew)
    await isTold('paymentFailed', 'ended')
    expect(textsTo(sink, email).at(-1)).toContain(renew)

    await pay()
    expect((await signIn()).status).toBe(200)
    const until = await endOf()
    if (protocols[kind].cancels) {
      on.clock.advance(Date.parse(until) - on.clock.now() - 3 * day)
      await isTold()
      await tell('subscription.canceled', { order, until })
      expect(await endOf()).toBe(until)
      await isTold('endsSoon')
    }
    await tell('subscription.ended', { order })
    expect((await signIn()).json.code).toBe('noActiveSubs')
    await isTold('ended')
  },
)

// On PostgreSQL in the full run: renewals and orders send the same statements there.
import type { ShopKind } from '@keyward/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adviceOn } from '../../../console/src/features/apps/types/shop-links.ts'
import { hour } from '../../src/core/clock.ts'
import { makeApp, makePremium, signUp, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { startServer, type TestServer } from '../harness.ts'
import { allUsed, makeType, orderOnce, ordersOf, postShop } from '../shop-actor.ts'
import { kinds, newShopOf, protocols, requestOf, startShopHosts, toTold } from '../shop-protocols.ts'

/** What each kind of shop returns of its links, by its documents; for Paddle the vendor's own page passes it on. */
const parameters: Record<ShopKind, string> = {
  custom: 'reference',
  stripe: 'client_reference_id',
  paddle: 'reference',
  lemonsqueezy: 'checkout[custom][reference]',
  gumroad: 'reference',
}

let shops: Awaited<ReturnType<typeof startShopHosts>>
let on: TestServer
beforeAll(async () => {
  shops = await startShopHosts()
  on = await startServer({ ...shops.environment, PUBLIC_URL: 'http://127.0.0.1:4000' })
})
afterAll(async () => {
  await on.close()
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
  const vendor = await makeApiKey(on, owner, { permissions: ['licenses:read', 'licenses:write'] })
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
  let orders = 0
  const send = async (type: string, data: object) => {
    const now = new Date(on.clock.now())
    const said = protocols[kind].say(toTold({ type, data }, now), shops.hosts[kind])
    const { payload, headers } = requestOf(kind, said, wanted.secret, now)
    const answer = await on.server.inject({ method: 'POST', url: shop.hook, payload, headers })
    expect(answer.statusCode).toBe(200)
  }
  const buy = async (email: string, link?: string, product = 'pro') => {
    const order = `order-${kind}-${orders++}`
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
  const refund = async (order: string) => {
    await send('order.refunded', { order })
    await allUsed(on, shop._id)
    await orderOnce(vendor, order, { state: 'refunded' })
  }
  return { app, vendor, buy, refund }
}

test.each(kinds)(
  'who buys again at a shop of %s keeps the key, and a running program goes on',
  async (kind) => {
    const { app, vendor, buy, refund } = await sellerOf(kind)
    const [{ _id, key: licenseKey }] = (await buy('ada@example.com')).licenses
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

    const renewal = await buy('ada@example.com', renew)
    expect(renewal).toMatchObject({ licenses: [], renewed: { _id } })
    await endsIn(3)
    const both = await Promise.all([buy('ada@example.com', renew), buy('eve@example.com', renew)])
    for (const one of both) expect(one).toMatchObject({ licenses: [], renewed: { _id } })
    await endsIn(9)

    // A stranger's order has neither the license's key nor its customer.
    const [, stranger] = both
    const customers = await on.database.db
      .selectFrom('licenses as l')
      .innerJoin('customers as c', 'c.id', 'l.customer_id')
      .select('c.email')
      .where('l.app_id', '=', app._id)
      .execute()
    expect(customers).toEqual([{ email: 'ada@example.com' }])
    await refund(stranger.order)
    await endsIn(6)

    const upgrade = await buy('ada@example.com', upgrades[0].url, 'team')
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

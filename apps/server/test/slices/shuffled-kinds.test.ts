// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { makeApp, makePremium, type Owner, signUp } from '../actors.ts'
import { startServer, type TestServer } from '../harness.ts'
import { rounds } from '../rounds.ts'
import { allUsed, makeType, postShop } from '../shop-actor.ts'
import { outcomeOf, shuffled } from '../shop-outcomes.ts'
import {
  kinds,
  newShopOf,
  protocols,
  requestOf,
  startShopHosts,
  type Told,
  toTold,
} from '../shop-protocols.ts'

const deliveries = rounds(60, 1000)

let shops: Awaited<ReturnType<typeof startShopHosts>>
let on: TestServer
let owner: Owner
let appId: string
let products: object[]
beforeAll(async () => {
  shops = await startShopHosts()
  on = await startServer(shops.environment)
  owner = await signUp(on)
  await makePremium(on, owner)
  appId = (await makeApp(owner))._id
  products = [
    { product: 'pro', type: await makeType(owner, appId, { devices: 2, graceDays: 5 }) },
    { product: 'plus', type: await makeType(owner, appId, { devices: 8, graceDays: 2 }) },
  ]
})
afterAll(async () => {
  await on.close()
  shops.close()
})

/** What happened to orders, which every kind of shop can tell; disputes are told by some. */
function history(begin: number): { events: Told[]; disputes: Map<string, number> } {
  const date = (days: number) => new Date(begin + days * day)
  const monthAfter = (days: number): string => {
    const end = date(days)
    end.setUTCMonth(end.getUTCMonth() + 1)
    return end.toISOString()
  }
  const tales: [type: string, days: number, more?: object][][] = [
    [],
    [['order.refunded', 1]],
    [['order.refunded', 1, { amount: 400 }]],
    [
      ['order.refunded', 1, { amount: 400 }],
      ['order.refunded', 2, { amount: 600 }],
    ],
    [['order.disputed', 1]],
    [
      ['order.disputed', 1],
      ['order.dispute_won', 2],
    ],
    [
      ['order.disputed', 1],
      ['order.dispute_won', 2],
      ['order.disputed', 3],
    ],
    [
      ['subscription.renewed', 0],
      ['subscription.payment_failed', 1],
    ],
    [
      ['subscription.renewed', 0],
      ['subscription.payment_failed', 1],
      ['subscription.renewed', 2],
    ],
    [
      ['subscription.renewed', 0],
      ['subscription.changed', 1, { product: 'plus' }],
      ['subscription.renewed', 2],
    ],
    [
      ['subscription.renewed', 0],
      ['subscription.changed', 1, { product: 'plus' }],
      ['subscription.ended', 3],
    ],
  ]
  const events: Told[] = []
  const disputes = new Map<string, number>()
  for (let at = 0; events.length < deliveries * 0.75; at += 1) {
    const tale = tales[at % tales.length]!
    const isSubscription = tale.some(([type]) => type.startsWith('subscription'))
    const order = `${isSubscription ? 'sub' : 'order'}-${at}`
    const disputed = tale.filter(([type]) => type === 'order.disputed').length
    disputes.set(order, disputed)
    const bought = {
      ...{ email: `buyer-${at}@example.com`, amount: 1000, currency: 'USD' },
      lines: [{ product: 'pro', quantity: 1 + (at % 3) }],
    }
    const tell = (type: string, days: number, more: object = {}) => {
      const isLasting = type === 'subscription.renewed' || type === 'subscription.changed'
      const data = { order, ...(isLasting && { until: monthAfter(days) }), ...more }
      events.push(toTold({ type, data }, date(days)))
    }
    tell('order.paid', 0, bought)
    for (const [type, days, more] of tale) tell(type, days, more)
  }
  return { events, disputes }
}

async function addShop(kind: (typeof kinds)[number]) {
  const wanted = newShopOf(kind, products)
  const answer = await postShop(owner, appId, wanted)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.json))
  const { _id, hook } = answer.json.data.shop as { _id: string; hook: string }
  const send = async (said: { id: string; body: string }) => {
    const request = requestOf(kind, said, wanted.secret, new Date(on.clock.now()))
    return (await on.server.inject({ method: 'POST', url: hook, ...request })).statusCode
  }
  return { _id, send }
}

let told: ReturnType<typeof history>
let expected: Record<string, unknown>
beforeAll(async () => {
  // Whole seconds: that is how exact many shops are.
  told = history(Math.floor(on.clock.now() / 1000) * 1000 - 20 * day)
  const inOrder = await addShop('custom')
  for (const event of told.events) {
    expect(await inOrder.send(protocols.custom.say(event, shops.hosts.custom))).toBe(200)
    await allUsed(on, inOrder._id)
  }
  expected = await outcomeOf(owner, inOrder._id)
  expect(Object.keys(expected).length).toBeGreaterThan(deliveries / 12)
})

test.each(kinds)(
  'deliveries of %s in any order, repeated and concurrent, end like those of any shop in order',
  async (kind) => {
    const { say, disputes } = protocols[kind]
    const isKnown = (order: string) => told.disputes.get(order)! <= disputes
    const said = told.events
      .filter(({ data }) => isKnown((data as { order: string }).order))
      .map((event) => say(event, shops.hosts[kind]))
    const repeated = Array.from({ length: deliveries - said.length }, (_, at) => said[at % said.length]!)
    const all = shuffled([...said, ...repeated])
    expect(all.length).toBeGreaterThanOrEqual(deliveries)
    const mixed = await addShop(kind)
    while (all.length > 0) {
      const statuses = await Promise.all(all.splice(0, 16).map((one) => mixed.send(one)))
      expect(new Set(statuses)).toEqual(new Set([200]))
    }
    await allUsed(on, mixed._id)
    const wanted = Object.entries(expected).filter(([order]) => isKnown(order))
    expect(await outcomeOf(owner, mixed._id)).toEqual(Object.fromEntries(wanted))
  },
)

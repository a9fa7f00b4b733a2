// On PostgreSQL in the full run: renewals sends the same statements there.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { allApps } from '../../src/core/actor.ts'
import { day } from '../../src/core/clock.ts'
import { accessEnd } from '../../src/db/stored-end.ts'
import { deviceLimit } from '../../src/modules/devices/devices.rules.ts'
import { pausedFrom } from '../../src/modules/entitlements/grants.changes.ts'
import { afterChange, readHolders } from '../../src/modules/entitlements/grants.ts'
import { rightsOf, updatesUntil } from '../../src/modules/entitlements/terms.rules.ts'
import { toBuyReference } from '../../src/modules/licenses/licenses.rules.ts'
import { makePremium, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForAll, ownerForAll, serverForAll } from '../fixtures.ts'
import { rounds, times } from '../rounds.ts'
import { allUsed, makeShop, makeType, orderOnce, sell } from '../shop-actor.ts'
import { paid, type SoldEvent } from '../shop-events.ts'
import { shuffled } from '../shop-outcomes.ts'

const on = serverForAll({ PUBLIC_URL: 'http://127.0.0.1:4000', RATE_LIMITS: 'off' })
const owner = ownerForAll(on)
const app = appForAll(owner)

/** As autovacuum does, which tests do without: plans that were made for empty tables read all of what is in them now. */
async function vacuum(): Promise<void> {
  const { dialect, db } = on.database
  if (dialect === 'postgres') await sql`vacuum analyze`.execute(db)
}

const pick = <T>(some: readonly T[]): T => some[Math.floor(Math.random() * some.length)] as T
const days = (value: number) => ({ duration: { value, unit: 'days' } })
const types = {
  dated: { term: 'date', ...days(90), updatesForDays: 30, features: ['base'], graceDays: 3 },
  started: { term: 'first_use', ...days(60), devices: 2 },
  forever: { term: 'forever', updatesForDays: 60, features: ['base'] },
  team: { term: 'date', ...days(45), devices: 5, features: ['team'], updatesForDays: 200 },
}
type Name = keyof typeof types

type Vendor = Awaited<ReturnType<typeof makeApiKey>>
interface World {
  vendor: Vendor
  shop: Awaited<ReturnType<typeof makeShop>>
  ids: Record<Name, string>
}

async function makeWorld(): Promise<World> {
  await makePremium(on, owner)
  const vendor = await makeApiKey(on, owner, {
    permissions: ['licenses:read', 'licenses:write', 'clients:write', 'clients:read'],
  })
  const made: [string, string][] = []
  for (const [name, type] of Object.entries(types)) made.push([name, await makeType(owner, app._id, type)])
  const ids = Object.fromEntries(made) as World['ids']
  const upgrades = [{ type: ids.team, name: 'Team', url: 'https://shop.example.com/team' }]
  for (const name of ['dated', 'started', 'forever'] as const)
    await owner.call('PUT', `/license-types/${ids[name]}`, { upgrades })
  const products = made.map(([product, type]) => ({ product, type }))
  return { vendor, shop: await makeShop(owner, app._id, products), ids }
}

interface Twin {
  license: string
  client: string
  reference: string
}
async function makeTwin({ vendor, shop }: World, product: Name): Promise<Twin> {
  const number = randomUUID()
  await sell(on, shop, paid(number, { lines: [{ product, quantity: 1 }] }))
  const order = await orderOnce(vendor, number, { state: 'fulfilled' })
  const { _id: license, key: licenseKey } = order.licenses[0]
  const program = await startProgram(on, app)
  const { user } = (await program.call('POST', '/license', { licenseKey, hwid: randomUUID() })).json.data
  return { license, client: user._id, reference: toBuyReference(on.seal, license) }
}

type Edit = (twin: Twin) => Promise<unknown>
/** What happens alike to each license, by its name: what a vendor does, or another order. */
function editOf({ vendor, shop, ids }: World, product: Name): [string, Edit] {
  const until = on.clock.inDays(pick([5, 50, 200]))
  const end = pick(['later', 'type', 'keep'])
  const buy =
    (bought: Name): Edit =>
    async ({ reference }) => {
      const lines = [{ product: bought, quantity: 1 }]
      expect(await sell(on, shop, paid(randomUUID(), { reference, lines }))).toBe(200)
      await allUsed(on, shop._id)
    }
  const edits: Record<string, Edit> = {
    extend: ({ license }) =>
      vendor.call('POST', '/licenses/bulk', { action: 'extend', ids: [license], days: 20 }),
    extendUntil: ({ license }) =>
      vendor.call('POST', '/licenses/bulk', { action: 'extend', ids: [license], expiresAt: until }),
    togglePause: ({ client }) => vendor.call('PATCH', `/clients/${client}/toggle-pause`),
    setEnd: ({ license }) => vendor.call('PUT', `/licenses/${license}`, { expiresAt: until }),
    changeType: ({ license }) => vendor.call('PUT', `/licenses/${license}`, { type: ids[product], end }),
    renew: buy(product),
    upgrade: buy('team'),
  }
  const often = Object.entries(edits).filter(([name]) => name === 'togglePause' || name === 'upgrade')
  return pick([...Object.entries(edits), ...often])
}

/** The events that a shop sends for one order with a reference, in groups between which time passes. */
function tale(product: Name, reference: string): (() => SoldEvent[])[] {
  const order = randomUUID()
  const about = (type: string, more: object = {}) => {
    return { type, timestamp: on.clock.inDays(0), data: { order, ...more }, id: `msg_${randomUUID()}` }
  }
  const lines = [{ product: pick([product, product, 'team' as const]), quantity: pick([1, 1, 2]) }]
  const bought = () =>
    about('order.paid', { ...paid(order).data, reference, lines, amount: 100, payment: 'p1' })
  const first = () => about('subscription.renewed', { until: on.clock.inDays(30), payment: 'p1' })
  const second = () => about('subscription.renewed', { until: on.clock.inDays(80), payment: 'p2' })
  const refunded = (more = {}) => about('order.refunded', more)
  return pick([
    [() => [bought()]],
    [() => [bought()], () => [refunded()]],
    [() => [bought()], () => [], () => [refunded()]],
    [() => [bought(), about('order.disputed')], () => [about('order.dispute_won')]],
    [() => [bought(), first()], () => [second()], () => [refunded({ payment: 'p2' })]],
    [() => [bought(), first(), second()], () => [about('subscription.ended')], () => [refunded()]],
    [() => [bought(), first()], () => [about('subscription.payment_failed')], () => [second()]],
    [() => [bought(), first(), refunded(), about('order.disputed')]],
  ])
}

/** What a license gives on a day, if a pause of it ends now, and for how long `team` is paid. */
async function givenBy({ license }: Twin) {
  const [holder] = await readHolders(on.database.db, allApps(owner.id), { licenses: [license] })
  if (!holder) throw new Error('No such license')
  const now = on.clock.now()
  const resumed = pausedFrom(holder, false, now, { source_kind: 'person', source_id: null })
  const { client, license: row, access } = afterChange(holder, resumed, now)
  if (!client || !row) throw new Error('No such license')
  const team = access.rights.flatMap(({ features, until }) => (features === '["team"]' ? (until ?? 0) : []))
  const givenAt = (at: number) => {
    const hasAccess = accessEnd(client, at) > at && row.banned === 0
    const rights = rightsOf(row, client, at)
    return {
      hasAccess,
      features: hasAccess ? (JSON.parse(rights?.features ?? '[]') as string[]) : [],
      devices: hasAccess ? deviceLimit(rights) : 0,
      updates: updatesUntil(row) ?? Number.POSITIVE_INFINITY,
    }
  }
  return { givenAt, team: Math.max(0, ...team.map((until) => until - now)) }
}
const someDays = Array.from({ length: 120 }, (_, at) => at * 5)

test('a forged or foreign reference changes nothing', async () => {
  const world = await makeWorld()
  const { shop, vendor } = world
  const twin = await makeTwin(world, 'dated')
  const before = (await vendor.call('GET', `/licenses/${twin.license}`)).json.data.license
  const foreign = toBuyReference(on.seal, `lic_${'0'.repeat(32)}`)
  const forge = () => {
    const at = 4 + Math.floor(Math.random() * (twin.reference.length - 4))
    const letter = pick([...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'])
    const text = twin.reference.slice(0, at) + letter + twin.reference.slice(at + 1)
    return text === twin.reference ? foreign : pick([text, text, text.slice(0, -1), foreign, twin.license])
  }
  const [batch, count] = [rounds(20, 100), rounds(20, 10_000)]
  const lines = [{ product: 'dated', quantity: 1 }]
  for (let sent = 0; sent < count; sent += batch) {
    const told = await times(batch, () =>
      sell(on, shop, paid(`forged ${randomUUID()}`, { reference: forge(), lines, email: '' })),
    )
    expect(new Set(told)).toEqual(new Set([200]))
    await allUsed(on, shop._id)
    if (sent % 500 === 0) await vacuum()
  }
  expect((await vendor.call('GET', `/licenses/${twin.license}`)).json.data.license).toEqual(before)
  const units = on.database.db.selectFrom('shop_order_units')
  expect(await units.select('unit').where('renewed_id', '=', twin.license).execute()).toEqual([])
  expect(await units.select('unit').where('license_id', 'is not', null).execute()).toHaveLength(count + 1)
}, 1_800_000)

/** One history: what three alike licenses give on each day, of which an order renews two. */
async function* tellHistory(world: World): AsyncGenerator<void> {
  const { shop, vendor } = world
  const product = pick(['dated', 'started', 'forever'] as const)
  const [plain, renewed, mixed] = (await times(3, () => makeTwin(world, product))) as [Twin, Twin, Twin]
  const again = (event: SoldEvent): SoldEvent => ({
    ...event,
    id: `${event.id}-mixed`,
    data: {
      ...event.data,
      order: `mixed ${(event.data as { order: string }).order}`,
      reference: mixed.reference,
    },
  })
  const steps: string[] = [product]
  for (const toEvents of tale(product, renewed.reference)) {
    yield
    const edits = await times(pick([0, 0, 1, 2, 3]), async () => editOf(world, product))
    for (const [, edit] of edits) for (const twin of [plain, renewed, mixed]) await edit(twin)
    const events = toEvents()
    steps.push(
      `${edits.map(([name]) => name).join()} then ${events.map((event) => JSON.stringify(event)).join()}`,
    )
    const { team: teamBefore } = await givenBy(renewed)
    for (const event of events) {
      expect(await sell(on, shop, event)).toBe(200)
      await allUsed(on, shop._id)
    }
    const others = events.map(again)
    await Promise.all(shuffled([...others, ...others]).map((event) => sell(on, shop, event)))
    await allUsed(on, shop._id)
    const [without, withOrder, inAnyOrder] = [
      await givenBy(plain),
      await givenBy(renewed),
      await givenBy(mixed),
    ] as const
    const isUpgrade = events.length === 1 && JSON.stringify(events[0]).includes('"product":"team"')
    if (isUpgrade) expect(withOrder.team, steps.join('\n')).toBe(teamBefore + types.team.duration.value * day)
    for (const after of someDays) {
      const at = on.clock.now() + after * day
      const [less, more] = [without.givenAt(at), withOrder.givenAt(at)]
      const why = `${after} days after ${steps.join('\n')}`
      expect(inAnyOrder.givenAt(at), why).toEqual(more)
      expect(Number(more.hasAccess), why).toBeGreaterThanOrEqual(Number(less.hasAccess))
      expect(more.features, why).toEqual(expect.arrayContaining(less.features))
      expect(more.devices, why).toBeGreaterThanOrEqual(less.devices)
      expect(more.updates, why).toBeGreaterThanOrEqual(less.updates)
    }
  }
  const { license } = (await vendor.call('GET', `/licenses/${renewed.license}`)).json.data
  expect(license.banned).toBe(false)
}

test('an order with a reference never leaves a license with less, on any day, and in any order of arrival', async () => {
  const worlds: World[] = []
  while (worlds.length < rounds(2, 5)) worlds.push(await makeWorld())
  for (let round = 0; round < rounds(2, 60); round += 1) {
    let histories = worlds.map(tellHistory)
    while (histories.length > 0) {
      const told = await Promise.all(histories.map((one) => one.next()))
      histories = histories.filter((_, at) => !told[at]?.done)
      on.clock.advance(pick([0, 1, 40, 120]) * day)
      await makePremium(on, owner)
    }
    await vacuum()
  }
}, 1_800_000)

// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { day, hour, minute, second } from '../../src/core/clock.ts'
import { modules } from '../../src/modules/index.ts'
import { tidy } from '../../src/modules/system/housekeeping.ts'
import { makeApp, makeLicenses, makePremium, type Owner, signUp, single, startProgram } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { ctxOf, startServer, type TestServer } from '../harness.ts'
import { makeShop, makeType, orderOnce, postShop, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'
import { stripeKey } from '../shop-host.ts'
import { sendStripe, startStripe, stripeSecret } from '../stripe-stand-in.ts'

let stripe: Awaited<ReturnType<typeof startStripe>>
let on: TestServer
let owner: Owner
let app: Awaited<ReturnType<typeof makeApp>>
beforeAll(async () => {
  stripe = await startStripe()
  on = await startServer({ SHOP_URL_STRIPE: stripe.url }, { deliveriesEveryMs: 100 })
  owner = await signUp(on)
  await makePremium(on, owner)
  app = await makeApp(owner)
})
afterAll(async () => {
  await on.close()
  stripe.close()
})

const iso = () => new Date(on.clock.now()).toISOString()
const erasuresOf = (customer: string) =>
  on.database.db.selectFrom('erasures').selectAll().where('customer_id', '=', customer).execute()

async function addCustomer(email: string): Promise<string> {
  const made = await owner.call('POST', '/customers', { email })
  expect(made.status).toBe(201)
  return made.json.data.customer._id
}

async function erase(customer: string) {
  on.clock.advance(hour)
  expect((await owner.call('DELETE', `/customers/${customer}`)).status).toBe(200)
  on.clock.advance(hour)
}

test('an order from before the erasure that its shop tells of later has no buyer; a new purchase has a new customer', async () => {
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  const email = 'Late@erased.example'
  const told = (order: string, timestamp: string) => ({ ...paid(order, { email, name: 'Late' }), timestamp })
  const before = iso()
  const customer = await addCustomer(email)
  await erase(customer)
  expect(await sell(on, shop, told('late-1', before))).toBe(200)
  const late = await orderOnce(owner, 'late-1', { state: 'fulfilled' })
  expect(late).toMatchObject({ email: null, name: null, customer: null, mail: 'none', licenses: [{}] })
  expect(await sell(on, shop, told('late-2', iso()))).toBe(200)
  const bought = await orderOnce(owner, 'late-2', { state: 'fulfilled' })
  expect(bought).toMatchObject({ email, name: 'Late', customer: expect.stringMatching(/^cus_/) })
  expect(bought.customer).not.toBe(customer)
  const other = await sell(on, shop, { ...paid('late-3', { email: 'x@erased.example' }), timestamp: before })
  expect(other).toBe(200)
  expect((await orderOnce(owner, 'late-3', { state: 'fulfilled' })).email).toBe('x@erased.example')
})

test('an order that is read back from its shop for the first time after the erasure has no buyer', async () => {
  const products = [{ product: 'price_pro', type: await makeType(owner, app._id) }]
  const body = { kind: 'stripe', name: 'Stripe', secret: stripeSecret, apiKey: stripeKey, products }
  const { shop } = (await postShop(owner, app._id, body)).json.data
  const session = { id: 'cs_late', payment_intent: 'pi_late' }
  const customer_details = { email: 'Read.Back@erased.example', name: 'Read Back' }
  const told = { ...session, customer_details }
  await sendStripe(on, shop.hook, 'checkout.session.completed', told)
  await orderOnce(owner, 'pi_late', { state: 'waiting', email: null })
  await erase(await addCustomer('read.back@erased.example'))
  const waiting = await on.database.db.selectFrom('shop_events').select('body').execute()
  expect(JSON.stringify(waiting)).toContain('cs_late')
  expect(JSON.stringify(waiting).toLowerCase()).not.toContain('read.back@')
  stripe.objects.set('/v1/checkout/sessions/cs_late', {
    ...{ ...session, object: 'checkout.session', payment_status: 'paid', subscription: null },
    ...{ customer_details, amount_total: 4900, currency: 'eur', livemode: true },
  })
  const data = [{ id: 'li_1', object: 'item', quantity: 1, price: { id: 'price_pro', product: 'prod_1' } }]
  stripe.objects.set('/v1/checkout/sessions/cs_late/line_items?limit=100', { object: 'list', data })
  const order = await orderOnce(owner, 'pi_late', { state: 'fulfilled' })
  expect(order).toMatchObject({ email: null, name: null, customer: null, licenses: [{}] })
  const events = await on.database.db
    .selectFrom('shop_events')
    .select(['body', 'fact'])
    .where('shop_id', '=', shop._id)
    .execute()
  expect(JSON.stringify(events).toLowerCase()).not.toContain('read.back@')
})

test('32 earlier orders that arrive during an erasure have no buyer afterwards', async () => {
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  const email = 'racing@erased.example'
  const customer = await addCustomer(email)
  const before = iso()
  on.clock.advance(hour)
  const earlier = Array.from({ length: 32 }, (_, at) => {
    const event = { ...paid(`race-${at}`, { email, name: 'Racing' }), timestamp: before }
    return sell(on, shop, event)
  })
  const [erased] = await Promise.all([owner.call('DELETE', `/customers/${customer}`), ...earlier])
  expect(erased.status).toBe(200)
  for (let at = 0; at < 32; at += 1)
    await orderOnce(owner, `race-${at}`, { email: null, name: null, customer: null })
  expect((await owner.call('GET', `/customers?search=${email}`)).json.data.customers).toEqual([])
})

test.runIf(process.env.TEST_DATABASE === 'postgres')(
  'an erasure begins after the events that are being used, which it would not find otherwise',
  async () => {
    const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
    const customer = await addCustomer('waiting@erased.example')
    const { db } = on.database
    const erasing = await db.transaction().execute(async (tx) => {
      await sql`select id from shops where id = ${shop._id} for share`.execute(tx)
      const call = owner.call('DELETE', `/customers/${customer}`)
      await eventually(async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
        expect(rows).not.toEqual([])
      })
      expect(await erasuresOf(customer)).toEqual([])
      return { call }
    })
    expect((await erasing.call).status).toBe(200)
  },
)

test('what another server writes about an erased person later is removed, and only a hash of the address stays, for 180 days', async () => {
  const email = 'swept@erased.example'
  const customer = await addCustomer(email)
  const license = single(await makeLicenses(on, owner, app))
  await owner.call('PUT', `/licenses/${license._id}`, { customer })
  const program = await startProgram(on, app)
  const body = { username: 'Swept-User', password: 'swordfish', licenseKey: license.key }
  expect((await program.call('POST', '/register', body)).status).toBe(200)
  const { clients } = (await owner.call('GET', `/customers/${customer}`)).json.data
  await erase(customer)
  const { db } = on.database
  const write = (reference: string, wanted: object) =>
    db
      .insertInto('activity')
      .values({
        ...{ reference, owner_id: owner.id, app_id: app._id, client_id: null, kind: 'refused' },
        ...{ share: 'refusals', call: 'login', code: 'pwMismatch', subject: null, address: null },
        ...{ detail: null, times: 1, created_at: on.clock.now(), last_at: on.clock.now(), ...wanted },
      })
      .execute()
  const named = async () => {
    const rows = await db
      .selectFrom('activity')
      .select(['reference', 'client_id', 'subject', 'address'])
      .where('reference', 'in', ['LATER1', 'LATER2', 'LATER3'])
      .execute()
    return rows.filter((row) => row.client_id ?? row.subject ?? row.address).length
  }
  // Its clock moved an hour on, so that the first look is done or due.
  for (const [at, laterMs] of [minute, 10 * minute].entries()) {
    await eventually(async () => {
      for (const { sweeps } of await erasuresOf(customer)) expect(sweeps).toBe(at + 1)
    })
    await write(`LATER${at + 1}`, at === 0 ? { client_id: clients[0]._id } : { subject: 'swept-user' })
    expect(await named()).toBe(1)
    on.clock.advance(laterMs + second)
    await eventually(async () => expect(await named()).toBe(0))
  }
  await eventually(async () => {
    for (const row of await erasuresOf(customer)) {
      expect(row).toMatchObject({ sealed: null, due_at: null, ended_at: expect.any(Number) })
      expect(JSON.stringify(row)).not.toMatch(/swept/i)
    }
  })
  on.clock.advance(170 * day)
  await tidy(ctxOf(on), modules)
  expect(await erasuresOf(customer)).not.toEqual([])
  on.clock.advance(11 * day)
  await tidy(ctxOf(on), modules)
  expect(await erasuresOf(customer)).toEqual([])
})

import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startProgram } from '../actors.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makeShop, makeType, orderOnce, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

/**
 * The columns of all tables that hold a text, with the texts in which it is. It is longer than a group of a license
 * key, because keys contain shorter texts by chance.
 */
async function tracesOf(text: string): Promise<string[]> {
  const { db, dialect } = on.database
  const columns =
    dialect === 'postgres'
      ? sql<{ t: string; c: string }>`select table_name as t, column_name as c from information_schema.columns
          where table_schema = current_schema() and data_type in ('text', 'character varying')`
      : sql<{
          t: string
          c: string
        }>`select m.name as t, p.name as c from sqlite_master m, pragma_table_info(m.name) p
          where m.type = 'table' and m.sql not like 'create virtual%'`
  const { rows } = await columns.execute(db)
  const traces: string[] = []
  for (const { t, c } of rows) {
    const value = sql`lower(cast(${sql.ref(`t.${c}`)} as text))`
    const found = await sql<{ v: string }>`select ${value} as v from ${sql.table(t)} t
      where ${value} like ${`%${text}%`} limit 1`.execute(db)
    if (found.rows[0]) traces.push(`${t}.${c}: ${found.rows[0].v.slice(0, 300)}`)
  }
  return traces
}

test('an erasure leaves no trace of a person who bought in a shop, also after further events of its order', async () => {
  const email = 'Gone.Person@erased.example'
  const type = await makeType(owner, app._id, { devices: 3 })
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type }])
  expect(await sell(on, shop, paid('erased-1', { email, name: 'Gone Person', amount: 100 }))).toBe(200)
  const order = await orderOnce(owner, 'erased-1', { state: 'fulfilled' })
  const program = await startProgram(on, app)
  const body = {
    username: 'Gone.Person',
    password: 'swordfish',
    email,
    hwid: 'pc',
    device: { name: 'Gone.Person PC' },
  }
  const made = await program.call('POST', '/register', { ...body, licenseKey: order.licenses[0].key })
  expect(made.status).toBe(200)
  await program.call('POST', '/login', { username: email, password: 'wrong' })
  const { customer } = order
  const edit = { name: 'Gone.Person', note: 'gone.person wrote to us' }
  expect((await owner.call('PUT', `/customers/${customer}`, edit)).status).toBe(200)
  const note = { note: `Sold to ${email}` }
  expect((await owner.call('PUT', `/licenses/${order.licenses[0]._id}`, note)).status).toBe(200)
  await expect.poll(() => tracesOf('gone.person')).not.toEqual([])
  expect((await owner.call('DELETE', `/customers/${customer}`)).status).toBe(200)
  expect(await tracesOf('gone.person')).toEqual([])
  expect(await tracesOf('gone person')).toEqual([])
  expect(await sell(on, shop, { type: 'order.refunded', data: { order: 'erased-1' } })).toBe(200)
  const refunded = await orderOnce(owner, 'erased-1', { state: 'refunded' })
  expect(refunded).toMatchObject({ email: null, name: null, customer: null })
  // Sealed texts contain short words by chance.
  expect(await tracesOf('gone.person')).toEqual([])
  expect(await tracesOf('gone person')).toEqual([])
})

test('an erasure removes the former address of a customer from its orders', async () => {
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  const email = 'former@erased.example'
  expect(await sell(on, shop, paid('former-1', { email, name: 'Former' }))).toBe(200)
  const { customer } = await orderOnce(owner, 'former-1', { state: 'fulfilled' })
  const edit = { email: 'latter@erased.example' }
  expect((await owner.call('PUT', `/customers/${customer}`, edit)).status).toBe(200)
  expect((await owner.call('DELETE', `/customers/${customer}`)).status).toBe(200)
  expect(await tracesOf('former@')).toEqual([])
  expect(await tracesOf('latter@')).toEqual([])
})

test('an erasure removes a buyer from orders that wait in the queue, and later events do not name it again', async () => {
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  const bought = { email: 'queued@erased.example', name: 'Queued Buyer' }
  expect(await sell(on, shop, paid('queued-1', bought))).toBe(200)
  const { customer } = await orderOnce(owner, 'queued-1', { state: 'fulfilled' })
  expect((await owner.call('PUT', `/shops/${shop._id}`, { active: false })).status).toBe(200)
  await on.database.db
    .insertInto('shop_events')
    .values({
      ...{ shop_id: shop._id, owner_id: owner.id, app_id: app._id, event_id: 'late' },
      ...{ lane: `${owner.id} ${shop._id}`, body: JSON.stringify(paid('queued-2', bought)) },
      ...{ sent_at: on.clock.now(), received_at: on.clock.now(), due_at: null },
    })
    .execute()
  expect(await tracesOf('queued buyer')).not.toEqual([])
  expect((await owner.call('DELETE', `/customers/${customer}`)).status).toBe(200)
  expect(await tracesOf('queued@')).toEqual([])
  expect(await tracesOf('queued buyer')).toEqual([])
  expect((await owner.call('PUT', `/shops/${shop._id}`, { active: true })).status).toBe(200)
  await orderOnce(owner, 'queued-2', { email: null, customer: null })
  const again = { ...paid('queued-1', bought), id: 'told-again' }
  expect(await sell(on, shop, again)).toBe(200)
  await expect
    .poll(() =>
      on.database.db.selectFrom('shop_events').select('state').where('event_id', '=', 'told-again').execute(),
    )
    .toEqual([{ state: 'done' }])
  expect(await tracesOf('queued@')).toEqual([])
})

test('an erasure deletes all end users of a customer, also more than are deleted together', async () => {
  const made = await owner.call('POST', '/customers', { email: 'many@erased.example' })
  const customer = made.json.data.customer._id
  const direct = { appId: app._id, username: 'numerous-0', password: 'swordfish', expiresAt: null, customer }
  expect((await owner.call('POST', '/clients/create-direct', direct)).status).toBe(201)
  const { db } = on.database
  const { seq: _, ...row } = await db
    .selectFrom('clients')
    .selectAll()
    .where('username', '=', 'numerous-0')
    .executeTakeFirstOrThrow()
  for (let n = 1; n <= 220; n += 1) {
    const name = `numerous-${n}`
    const names = { username: name, username_normalized: name }
    await db
      .insertInto('clients')
      .values({ ...row, id: `${row.id}${n}`, ...names })
      .execute()
  }
  expect((await owner.call('DELETE', `/customers/${customer}`)).status).toBe(200)
  expect(await tracesOf('numerous-')).toEqual([])
})

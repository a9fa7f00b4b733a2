import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import { makePostgresDatabase } from '../harness.ts'

test('licenses, end users and mails of an earlier version have no customer', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-customers-'))
  const isPostgres = process.env.TEST_DATABASE === 'postgres'
  const database = openDatabase({ url: isPostgres ? await makePostgresDatabase() : undefined, dataDir })
  const { db } = database
  const before = migrations.findIndex(({ name }) => name === '0056-customers')
  await migrate(database, migrations.slice(0, before), { now: 1 })
  await sql`insert into accounts (id, name, email, email_normalized, password_hash, created_at)
    values ('acc_1', 'Ada', 'a@b.c', 'a@b.c', 'x', 1)`.execute(db)
  await sql`insert into owners (id, account_id, name, created_at) values ('own_1', 'acc_1', '', 1)`.execute(
    db,
  )
  await sql`insert into apps (id, owner_id, app_id, name, secret_sealed, secret_hash, signing_kid, signing_public,
      signing_sealed, version, created_at)
    values ('app_1', 'own_1', 'APP', 'Atlas', 'x', 'x', 'x', 'x', 'x', '1', 1)`.execute(db)
  await sql`insert into licenses (id, owner_id, app_id, key, key_normalized, note, expires_at, created_at)
    values ('lic_1', 'own_1', 'app_1', 'KEY-1', 'KEY1', 'sold', 9, 1)`.execute(db)
  await sql`insert into clients (id, owner_id, app_id, username, username_normalized, email, expires_at, created_at)
    values ('usr_1', 'own_1', 'app_1', 'ada', 'ada', 'Ada@Engines.example', 9, 1)`.execute(db)
  await sql`insert into mails (id, owner_id, lane, state, expires_at, created_at)
    values ('mai_1', 'own_1', 'own_1', 'sent', 9, 1)`.execute(db)
  await migrate(database, migrations, { now: 2 })
  for (const table of ['licenses', 'clients', 'mails'] as const) {
    expect(await db.selectFrom(table).select(['id', 'customer_id']).execute()).toEqual([
      { id: expect.any(String), customer_id: null },
    ])
  }
  await sql`insert into customers (id, owner_id, email, email_normalized, created_at)
    values ('cus_1', 'own_1', 'a@b.c', 'a@b.c', 3)`.execute(db)
  await db.updateTable('licenses').set({ customer_id: 'cus_1' }).execute()
  await db.updateTable('mails').set({ customer_id: 'cus_1' }).execute()
  await db.deleteFrom('customers').execute()
  expect(await db.selectFrom('licenses').select(['id', 'note', 'customer_id']).execute()).toEqual([
    { id: 'lic_1', note: 'sold', customer_id: null },
  ])
  expect(await db.selectFrom('mails').select('id').execute()).toEqual([])
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

test('customers of one international domain become one, and orders are found by its form in ASCII', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-domains-'))
  const isPostgres = process.env.TEST_DATABASE === 'postgres'
  const database = openDatabase({ url: isPostgres ? await makePostgresDatabase() : undefined, dataDir })
  const { db } = database
  const run = (statement: string) => sql.raw(statement).execute(db)
  const before = migrations.findIndex(({ convert }) => convert !== undefined)
  await migrate(database, migrations.slice(0, before), { now: 1 })
  await run(`insert into accounts (id, name, email, email_normalized, password_hash, created_at)
    values ('acc_1', 'Ada', 'a@b.c', 'a@b.c', 'x', 1)`)
  await run("insert into owners (id, account_id, name, created_at) values ('own_1', 'acc_1', '', 1)")
  await run(`insert into apps (id, owner_id, app_id, name, secret_sealed, secret_hash, signing_kid, signing_public,
      signing_sealed, version, created_at)
    values ('app_1', 'own_1', 'APP', 'Atlas', 'x', 'x', 'x', 'x', 'x', '1', 1)`)
  await run(`insert into customers (id, owner_id, email, email_normalized, name, note, created_at) values
    ('cus_1', 'own_1', 'A@münchen.de', 'a@münchen.de', 'Ada', 'old', 3),
    ('cus_2', 'own_1', 'a@xn--mnchen-3ya.de', 'a@xn--mnchen-3ya.de', null, 'new', 3),
    ('cus_3', 'own_1', 'jürgen@köln.de', 'jürgen@köln.de', null, null, 3),
    ('cus_4', 'own_1', 'jürgen@b.de', 'jürgen@b.de', null, null, 3)`)
  await run(`insert into licenses (id, owner_id, app_id, key, key_normalized, expires_at, created_at, customer_id)
    values ('lic_1', 'own_1', 'app_1', 'KEY-1', 'KEY1', 9, 1, 'cus_1')`)
  await run(`insert into shops (id, owner_id, app_id, kind, name, products, created_at)
    values ('shp_1', 'own_1', 'app_1', 'custom', 'Shop', '[]', 1)`)
  await run(`insert into shop_orders (id, owner_id, app_id, shop_id, number, email, email_normalized, customer_id, created_at)
    values ('sor_1', 'own_1', 'app_1', 'shp_1', '1', 'A@münchen.de', 'a@münchen.de', 'cus_1', 1)`)
  await migrate(database, migrations, { now: 2 })
  const customers = db
    .selectFrom('customers')
    .select(['id', 'email_normalized', 'name', 'note'])
    .orderBy('id')
  expect(await customers.execute()).toEqual([
    { id: 'cus_2', email_normalized: 'a@xn--mnchen-3ya.de', name: 'Ada', note: 'new\nold' },
    { id: 'cus_3', email_normalized: 'jürgen@xn--kln-sna.de', name: null, note: null },
    { id: 'cus_4', email_normalized: 'jürgen@b.de', name: null, note: null },
  ])
  const [order] = await db.selectFrom('shop_orders').selectAll().execute()
  expect(order).toMatchObject({ email_normalized: 'a@xn--mnchen-3ya.de', customer_id: 'cus_2', mailless: 0 })
  expect(await db.selectFrom('licenses').select('customer_id').execute()).toEqual([{ customer_id: 'cus_2' }])
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { sha256 } from '../../src/core/crypto.ts'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import { makePostgresDatabase, startServer } from '../harness.ts'
import { startOfTests } from '../migrated.ts'

/** What grants replace. */
const leaving = [
  'added_ms',
  'taken_ms',
  'added_features',
  'added_devices',
  'added_seats',
  'added_seat_timeout',
  'name_skeleton',
]
const omitted = (row: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))

const filled = ['accounts', 'owners', 'owner_sessions', 'apps', 'licenses', 'clients', 'customers'] as const

test('the migrations from 0070 on change no value, and what was stored before works', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-newest-'))
  const url = process.env.TEST_DATABASE === 'postgres' ? await makePostgresDatabase() : undefined
  const database = openDatabase({ url, dataDir })
  const { db } = database
  const run = (statement: string) => sql.raw(statement).execute(db)
  const before = migrations.findIndex(({ name }) => name === '0070-imports')
  expect(before).toBeGreaterThan(0)
  await migrate(database, migrations.slice(0, before), { now: 1 })
  const until = startOfTests + day
  await run(`insert into accounts (id, name, email, email_normalized, password_hash, created_at)
    values ('acc_1', 'Ada', 'Ada@b.c', 'ada@b.c', 'x', 1)`)
  await run(`insert into owners (id, account_id, name, created_at) values ('own_1', 'acc_1', 'Ada', 1)`)
  await run(`insert into owner_sessions (id, account_id, owner_id, token_hash, created_at, confirmed_at,
      last_used_at, expires_at)
    values ('ses_1', 'acc_1', 'own_1', '${sha256('kwo_token-of-the-person-ada')}', ${startOfTests - day}, 1,
      ${startOfTests - day}, ${until})`)
  await run(`insert into apps (id, owner_id, app_id, name, secret_sealed, secret_hash, signing_kid, signing_public,
      signing_sealed, version, created_at)
    values ('app_1', 'own_1', 'ABCDEFGH', 'Atlas', 'x', 'x', 'x', 'x', 'x', '1', 1)`)
  await run(`insert into customers (id, owner_id, email, email_normalized, created_at)
    values ('cus_1', 'own_1', 'B@b.c', 'b@b.c', 3)`)
  await run(`insert into licenses (id, owner_id, app_id, key, key_normalized, note, expires_at, created_at, customer_id)
    values ('lic_1', 'own_1', 'app_1', 'KEY-1', 'KEY1', 'sold', ${until}, 1, 'cus_1')`)
  await run(`insert into clients (id, owner_id, app_id, username, username_normalized, email, expires_at, created_at)
    values ('usr_1', 'own_1', 'app_1', 'Bob', 'bob', 'Bob@b.c', ${until}, 1)`)
  await run(`insert into compatibility (app_id, owner_id, enabled, owner_ref, name, protocols, secret_sealed, public_key,
      key_sealed, last_used_at) values ('app_1', 'own_1', 1, 'Kw3nD0rId1', 'Atlas', '[]', 'x', 'x', 'x', 1)`)
  // A statement of its own each time: its columns are those of the first run.
  const read = (count: number) =>
    Promise.all(filled.map((table) => db.selectFrom(table).selectAll().limit(sql.lit(count)).execute()))
  await run(`insert into apps (id, owner_id, app_id, name, secret_sealed, secret_hash, signing_kid, signing_public,
      signing_sealed, version, created_at)
    values ('app_2', 'own_1', 'HGFEDCBA', 'Second', 'x', 'y', 'x', 'x', 'x', '1', 1)`)
  await run(`update clients set customer_id = 'cus_1'`)
  await run(`insert into webhooks (id, owner_id, url_sealed, origin, events, format, maker_kind, maker_id, created_at)
    values ('whk_1', 'own_1', 'x', 'https://a.example', '["*"]', 'discord', 'api_key', 'key_1', 1)`)
  await run(`insert into licenses (id, owner_id, app_id, key, key_normalized, expires_at, created_at)
    values ('lic_2', 'own_1', 'app_1', 'KEY-2', 'KEY2', ${until}, 2)`)
  await run(`insert into shops (id, owner_id, app_id, kind, name, products, created_at)
    values ('shp_1', 'own_1', 'app_1', 'custom', 'Shop', '[]', 1)`)
  for (const [at, license] of ["'lic_1'", "'lic_2'", 'null'].entries()) {
    await run(`insert into shop_orders (id, owner_id, app_id, shop_id, number, test, created_at)
      values ('ord_${at}', 'own_1', 'app_1', 'shp_1', '${at}', ${at > 0 ? 1 : 0}, 1)`)
    await run(`insert into shop_order_units (order_id, app_id, product, unit, license_id)
      values ('ord_${at}', 'app_1', 'pro', 0, ${license})`)
  }
  const old = (await read(10)).map((rows) => rows.map((row) => omitted(row, leaving)))

  await migrate(database, migrations, { now: 2 })
  const now = await read(20)
  expect(now).toMatchObject(old)
  expect(now[1]).toMatchObject([{ disabled_at: null, max_apps: null, max_licenses_per_app: null }])
  const used = { owner_ref: 'Kw3nD0rId1', name: 'Atlas', used_by: 'own_1' }
  expect(await db.selectFrom('compatibility_names').selectAll().execute()).toEqual([used])
  // Licenses of test orders are marked, and work as before.
  expect(now[4]).toMatchObject([
    { id: 'lic_1', test: 0 },
    { id: 'lic_2', test: 1 },
  ])
  expect(now[3]).toMatchObject([{ test_licenses: 1 }, { test_licenses: 1 }])
  // Who saw a customer sees it as before.
  expect(await db.selectFrom('customer_faces').selectAll().execute()).toMatchObject([
    {
      customer_id: 'cus_1',
      app_id: 'app_1',
      id: 'cus_1',
      email: null,
      name: null,
      note: null,
      created_at: 3,
    },
  ])
  expect(await db.selectFrom('webhooks').select(['keeper_kind', 'keeper_id']).execute()).toEqual([
    { keeper_kind: 'api_key', keeper_id: 'key_1' },
  ])
  for (const table of ['lazy_moves', 'former_names', 'erasures'] as const)
    expect([table, await db.selectFrom(table).selectAll().execute()]).toEqual([table, []])
  await run(`insert into lazy_moves (app_id, owner_id, url, protocol, old_name, old_owner_id)
    values ('app_1', 'own_1', 'https://old.example', '1.3', 'Atlas', 'old')`)
  await database.close()

  const on = await startServer({ DATA_DIR: dataDir, ...(url === undefined ? {} : { DATABASE_URL: url }) })
  try {
    const { json } = await on.call('GET', '/licenses', { token: 'kwo_token-of-the-person-ada' })
    expect(json.data.licenses).toMatchObject([
      { _id: 'lic_2', test: true },
      { _id: 'lic_1', test: false, note: 'sold', customer: 'cus_1' },
    ])
  } finally {
    await on.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

test('vendors that have mailed buyers, and those that the operator made, go on mailing', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-mailed-'))
  const url = process.env.TEST_DATABASE === 'postgres' ? await makePostgresDatabase() : undefined
  const database = openDatabase({ url, dataDir })
  const run = (statement: string) => sql.raw(statement).execute(database.db)
  const before = migrations.findIndex(({ name }) => name.endsWith('-mail-terms'))
  await migrate(database, migrations.slice(0, before), { now: 1 })
  for (const one of ['mailed', 'made', 'new']) {
    await run(`insert into accounts (id, name, email, email_normalized, password_hash, created_at)
      values ('acc_${one}', 'Ada', '${one}@b.c', '${one}@b.c', 'x', 1)`)
    await run(
      `insert into owners (id, account_id, name, created_at) values ('own_${one}', 'acc_${one}', 'Ada', 1)`,
    )
  }
  await run(`insert into buyer_mails (owner_id, place) values ('own_mailed', 10000000)`)
  await run(`insert into audit (id, owner_id, actor_kind, actor_id, action, created_at)
    values ('aud_1', 'own_made', 'operator', 'operator', 'owner.registered', 1)`)
  await migrate(database, migrations, { now: 2 })
  const owners = await database.db
    .selectFrom('owners')
    .select(['id', 'mails_trusted'])
    .orderBy('id')
    .execute()
  expect(owners).toEqual([
    { id: 'own_made', mails_trusted: 1 },
    { id: 'own_mailed', mails_trusted: 1 },
    { id: 'own_new', mails_trusted: 0 },
  ])
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

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

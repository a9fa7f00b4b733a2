import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import { rightsOf } from '../../src/modules/entitlements/terms.rules.ts'
import { makePostgresDatabase } from '../harness.ts'

test('end users of an earlier version get what their added keys allow, and devices the end of their leases', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-rights-'))
  const isPostgres = process.env.TEST_DATABASE === 'postgres'
  const database = openDatabase({ url: isPostgres ? await makePostgresDatabase() : undefined, dataDir })
  const { db } = database
  const before = migrations.findIndex(({ name }) => name === '0035-leased-places')
  await migrate(database, migrations.slice(0, before), { now: 1 })
  const ofApp = { owner_id: 'own_1', app_id: 'app_1', created_at: 1 }
  const named = { name: 'Ada', email: 'a@b.c', email_normalized: 'a@b.c', password_hash: 'x' }
  await db
    .insertInto('owners')
    .values({ id: 'own_1', ...named, created_at: 1 } as never)
    .execute()
  const secret = {
    secret_sealed: 'x',
    secret_hash: 'x',
    signing_kid: 'x',
    signing_public: 'x',
    signing_sealed: 'x',
  }
  const app = {
    id: 'app_1',
    owner_id: 'own_1',
    app_id: 'ABCDEFGH',
    name: 'Atlas',
    version: '1.0.0',
    ...secret,
  }
  await db
    .insertInto('apps')
    .values({ ...app, created_at: 1 } as never)
    .execute()
  const license = (id: string, client: string, terms: object) => ({
    ...ofApp,
    ...{ id, key: id, key_normalized: id, client_id: client, used: 1, used_at: 2, expires_at: 9, ...terms },
  })
  const keys = [
    license('l1', 'u1', { devices: 2, features: '["base"]' }),
    license('l2', 'u1', { devices: 3, features: '["export"]' }),
    license('l3', 'u1', { devices: 1, features: '["base","print"]' }),
    license('l4', 'u1', { devices: 9, features: '["banned"]', banned: 1 }),
    license('l5', 'u2', { devices: 1, features: '["only"]' }),
    license('l6', 'u3', { devices: 1 }),
    license('l7', 'u3', { devices: 1, seats: 4, seat_timeout_seconds: 60 }),
  ]
  for (const [id, lease_until] of [
    ['u1', 70],
    ['u2', null],
    ['u3', null],
  ] as const) {
    const user = {
      ...ofApp,
      id,
      username: id,
      username_normalized: id,
      expires_at: 9,
      lease_until,
    }
    await db
      .insertInto('clients')
      .values(user as never)
      .execute()
    const device = { ...ofApp, id: `d-${id}`, client_id: id, hwid: id, hwid_hash: `hash-${id}` }
    const { created_at: _, ...row } = { ...device, first_seen_at: 1, last_seen_at: 1 }
    await db
      .insertInto('devices')
      .values(row as never)
      .execute()
  }
  for (const key of keys)
    await db
      .insertInto('licenses')
      .values(key as never)
      .execute()
  for (const [id, license_id] of [
    ['u1', 'l1'],
    ['u2', 'l5'],
    ['u3', 'l6'],
  ] as const) {
    await db.updateTable('clients').set({ license_id }).where('id', '=', id).execute()
  }

  await migrate(database, migrations, { now: 2 })

  const users = await db.selectFrom('clients').selectAll().orderBy('id').execute()
  const licenses = await db.selectFrom('licenses').selectAll().execute()
  const rights = users.map((user) =>
    rightsOf(
      licenses.find(({ id }) => id === user.license_id),
      user,
      2,
    ),
  )
  expect(rights).toMatchObject([
    { devices: 3, seats: null, features: '["base","export","print"]' },
    { devices: 1, seats: null, features: '["only"]' },
    { devices: 1, seats: 4, seat_timeout_seconds: 60, features: '[]' },
  ])
  expect(users[1]).toMatchObject({ added_rights: null })
  const devices = await db.selectFrom('devices').select(['lease_until', 'lease_hash']).orderBy('id').execute()
  expect(devices).toEqual([
    { lease_until: 70, lease_hash: 'hash-u1' },
    { lease_until: null, lease_hash: null },
    { lease_until: null, lease_hash: null },
  ])
  await database.close()
  rmSync(dataDir, { recursive: true })
})

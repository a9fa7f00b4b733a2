import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSeal } from '../../src/core/crypto.ts'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import { toLicense } from '../../src/modules/licenses/licenses.rules.ts'
import { plainLicense } from '../actors.ts'
import { makePostgresDatabase } from '../harness.ts'

test('licenses of an earlier version stay dated licenses for one device', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-terms-'))
  const isPostgres = process.env.TEST_DATABASE === 'postgres'
  const database = openDatabase({ url: isPostgres ? await makePostgresDatabase() : undefined, dataDir })
  const { db } = database
  const before = migrations.findIndex(({ name }) => name === '0013-license-terms')
  await migrate(database, migrations.slice(0, before), { now: 1 })
  const created = { created_at: 1 }
  const ofApp = { owner_id: 'own_1', app_id: 'app_1', ...created }
  await db
    .insertInto('owners')
    .values({
      id: 'own_1',
      name: 'Ada',
      email: 'a@b.c',
      email_normalized: 'a@b.c',
      password_hash: 'x',
      premium_until: null,
      ...created,
    } as never)
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
    ...created,
  }
  await db
    .insertInto('apps')
    .values(app as never)
    .execute()
  const lastDay = Date.parse('9999-12-31T23:59:59.999Z')
  const license = (id: string, expires_at: number) => ({
    id,
    ...ofApp,
    key: id,
    key_normalized: id,
    expires_at,
  })
  await db
    .insertInto('licenses')
    .values([license('lic_1', 1_900_000_000_000), license('lic_2', lastDay)] as never)
    .execute()
  const user = { id: 'usr_1', ...ofApp, license_id: 'lic_1', username: 'ada', username_normalized: 'ada' }
  await db
    .insertInto('clients')
    .values({ ...user, expires_at: 1_900_000_000_000 } as never)
    .execute()

  await migrate(database, migrations, { now: 2 })

  const rows = await db.selectFrom('licenses').selectAll().orderBy('id').execute()
  const names = {
    app_name: 'Atlas',
    app_public_id: 'ABCDEFGH',
    username: null,
    left_ms: null,
    added: 0,
    reseller_email: null,
    type_name: null,
    customer: null,
    mail: null,
    mail_waits_for: null,
  }
  const shown = rows.map((row) =>
    toLicense(
      { seal: createSeal('a secret key of the tests, 32+ characters') },
      { ...row, ...names },
      1_800_000_000_000,
    ),
  )
  expect(shown).toMatchObject([
    { _id: 'lic_1', status: 'unused', expiresAt: '2030-03-17T17:46:40.000Z', ...plainLicense },
    { _id: 'lic_2', status: 'unused', expiresAt: '9999-12-31T23:59:59.999Z', ...plainLicense },
  ])
  expect(await db.selectFrom('clients').select(['expires_at', 'grace_days']).execute()).toEqual([
    { expires_at: 1_900_000_000_000, grace_days: 0 },
  ])
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

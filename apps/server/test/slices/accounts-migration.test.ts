import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { sha256 } from '../../src/core/crypto.ts'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import { resetOwnerPassword } from '../../src/modules/account/account.operator.ts'
import { findOwnerByEmail } from '../../src/modules/owners/owners.service.ts'
import { makePostgresDatabase, startServer } from '../harness.ts'
import { startOfTests } from '../migrated.ts'
import { recount } from '../recount.ts'

test('owners of an earlier version get an account with their id; sessions, reset links, passwords and imports keep working', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-accounts-'))
  const url = process.env.TEST_DATABASE === 'postgres' ? await makePostgresDatabase() : undefined
  const earlier = openDatabase({ url, dataDir })
  const before = migrations.findIndex(({ name }) => name === '0040-accounts')
  await migrate(earlier, migrations.slice(0, before), { now: 1 })
  const run = (statement: string) => sql.raw(statement).execute(earlier.db)
  const [since, until] = [startOfTests - day, startOfTests + day]
  for (const name of ['ada', 'bob']) {
    await run(`insert into owners (id, name, email, email_normalized, password_hash, premium_until, created_at)
      values ('own_${name}', '${name}', '${name}@Example.com', '${name}@example.com', 'x', ${until}, ${since})`)
    await run(`insert into owner_sessions (id, owner_id, token_hash, created_at, expires_at)
      values ('ses_${name}', 'own_${name}', '${sha256(`kwo_token-of-the-person-${name}`)}', ${since}, ${until})`)
    await run(`insert into apps (id, owner_id, app_id, name, secret_sealed, secret_hash, signing_kid, signing_public,
      signing_sealed, version, created_at)
      values ('app_${name}', 'own_${name}', '${name}', 'A', '', '', '', '', '', '1.0.0', 1)`)
    await run(`insert into resellers (id, owner_id, app_id, email, email_normalized, password_hash,
      allowed_license_keys, created_at)
      values ('res_${name}', 'own_${name}', 'app_${name}', '${name}@r.c', '${name}@r.c', 'x', 1, 1)`)
    await run(`insert into reseller_sessions (id, reseller_id, token_hash, created_at, expires_at)
      values ('res_${name}', 'res_${name}', '${sha256(`kwr_token-of-the-person-${name}`)}', ${since}, ${until})`)
    for (const [kind, reseller] of [
      ['owner', 'null'],
      ['reseller', `'res_${name}'`],
    ]) {
      await run(`insert into password_resets (id, owner_id, reseller_id, token_hash, created_at, expires_at)
        values ('${kind}_${name}', 'own_${name}', ${reseller}, '${sha256(`kwp_${kind}-${name}`)}', 1, ${until})`)
    }
  }
  await run(`insert into imports (id, owner_id, app_id, session_id, address, column_names, count, created_at)
    values ('imp_1', 'own_ada', 'app_ada', 'ses_ada', '::1',
    '["id","owner_id","app_id","key","key_normalized","expires_at","created_at"]', 2, ${since})`)
  const stored = (at: number) => `["lic_${at}","own_ada","app_ada","KEY-${at}","KEY-${at}",${until},${since}]`
  await run(`insert into import_chunks (import_id, part, n, content) values ('imp_1', 0, 1, '[${stored(1)}]'),
    ('imp_1', 1, 1, '[${stored(2)}]')`)
  await run(
    "insert into import_skips (import_id, key, message) values ('imp_1', 'KEY-0', 'The key exists already')",
  )
  await run("update apps set license_count = 2 where id = 'app_ada'")

  await migrate(earlier, migrations, { now: 2 })

  const { db } = earlier
  expect(await db.selectFrom('accounts').selectAll().orderBy('id').execute()).toMatchObject([
    {
      id: 'own_ada',
      name: 'ada',
      email: 'ada@Example.com',
      email_confirmed_at: null,
      last_owner_id: 'own_ada',
    },
    { id: 'own_bob', email_normalized: 'bob@example.com', password_hash: 'x', created_at: since },
  ])
  const owners = db
    .selectFrom('owners')
    .select(['id', 'account_id', 'premium_until', 'app_count'])
    .orderBy('id')
  expect(await owners.execute()).toEqual([
    { id: 'own_ada', account_id: 'own_ada', premium_until: until, app_count: 1 },
    { id: 'own_bob', account_id: 'own_bob', premium_until: until, app_count: 1 },
  ])
  expect(await findOwnerByEmail(db, 'bob@example.com')).toMatchObject({ id: 'own_bob' })
  await earlier.close()

  const on = await startServer({ DATA_DIR: dataDir, ...(url === undefined ? {} : { DATABASE_URL: url }) })
  try {
    const imported = on.database.db
      .selectFrom('licenses')
      .select(['key', 'expires_at', 'client_id'])
      .orderBy('key')
    await expect
      .poll(() => imported.execute())
      .toEqual(['KEY-1', 'KEY-2'].map((key) => ({ key, expires_at: until, client_id: null })))
    const records = on.database.db.selectFrom('audit').select(['actor_kind', 'actor_id', 'detail'])
    expect(await records.where('action', '=', 'licenses.imported').execute()).toEqual([
      { actor_kind: 'owner', actor_id: 'own_ada', detail: '{"count":2}' },
    ])
    const { kept, counted } = await recount(on)
    expect(kept).toEqual(counted)
    const profile = async (base: string, token: string) => on.call('GET', `${base}/profile`, { token })
    const { json } = await profile('/auth', 'kwo_token-of-the-person-ada')
    expect(json.data.user).toMatchObject({
      _id: 'own_ada',
      vendor: { _id: 'own_ada', name: 'ada', paused: false },
      role: 'owner',
      plan: 'premium',
      appCount: 1,
    })
    expect((await profile('/resellers/auth', 'kwr_token-of-the-person-bob')).status).toBe(200)
    const reset = (base: string, token: string) =>
      on.call('POST', `${base}/reset-password`, { body: { token, password: 'a better horse' } })
    expect((await reset('/auth', 'kwp_reseller-ada')).json.code).toBe('reset_link_invalid')
    expect((await reset('/auth', 'kwp_owner-ada')).json.data.user._id).toBe('own_ada')
    expect((await reset('/resellers/auth', 'kwp_reseller-ada')).status).toBe(200)
    expect((await profile('/auth', 'kwo_token-of-the-person-ada')).status).toBe(401)
    const password = (await resetOwnerPassword(on.database, on.clock, 'Bob@example.com'))?.password
    const signedIn = await on.call('POST', '/auth/login', { body: { email: 'bob@example.com', password } })
    expect(signedIn.json.data.user).toMatchObject({ _id: 'own_bob', email: 'bob@Example.com' })
  } finally {
    await on.close()
  }
})

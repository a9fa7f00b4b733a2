import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { allApps } from '../../src/core/actor.ts'
import { searchPage } from '../../src/db/lists/list-search.ts'
import { type SearchTerm, toSearchTerm } from '../../src/db/lists/search.ts'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import { endUserList } from '../../src/modules/end-users/end-users.list.ts'
import { makePostgresDatabase } from '../harness.ts'

test('end users of an earlier version are found by their name, their address and their devices', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-names-'))
  const isPostgres = process.env.TEST_DATABASE === 'postgres'
  const database = openDatabase({ url: isPostgres ? await makePostgresDatabase() : undefined, dataDir })
  const { db } = database
  const before = migrations.findIndex(({ name }) => name === '0050-known-names')
  await migrate(database, migrations.slice(0, before), { now: 1 })
  await sql`insert into accounts (id, name, email, email_normalized, password_hash, created_at)
    values ('acc_1', 'Ada', 'a@b.c', 'a@b.c', 'x', 1)`.execute(db)
  await sql`insert into owners (id, account_id, name, created_at) values ('own_1', 'acc_1', '', 1)`.execute(
    db,
  )
  await sql`insert into apps (id, owner_id, app_id, name, secret_sealed, secret_hash, signing_kid, signing_public,
      signing_sealed, version, created_at)
    values ('app_1', 'own_1', 'APP', 'Atlas', 'x', 'x', 'x', 'x', 'x', '1', 1)`.execute(db)
  for (const [name, email] of [
    ['plain', null],
    ['mailed', 'Old@Engines.example'],
    ['bound', null],
  ]) {
    await sql`insert into clients (id, owner_id, app_id, username, username_normalized, email, expires_at, created_at)
      values (${`usr_${name}`}, 'own_1', 'app_1', ${name}, ${name}, ${email}, 9999999999999, 1)`.execute(db)
  }
  await sql`insert into devices (id, owner_id, app_id, client_id, hwid, hwid_hash, name, first_seen_at, last_seen_at)
    values ('dev_1', 'own_1', 'app_1', 'usr_bound', 'x', 'x', 'OLD-DESKTOP', 1, 1)`.execute(db)
  // Deleting so many entries of the full-text index at once fails.
  await sql`insert into clients (id, owner_id, app_id, username, username_normalized, email, expires_at, created_at)
    with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < 3000)
    select 'usr_' || i, 'own_1', 'app_1', 'many' || i, 'many' || i, 'many' || i || '@crowd.example', 9999999999999, 1
    from numbers`.execute(db)
  await migrate(database, migrations, { now: 2 })
  const scope = { ...allApps('own_1'), permissions: new Set(['clients:read'] as const) }
  const find = async (text: string) => {
    const page = { page: 1, limit: 10, sort: 'newest' } as const
    const found = await searchPage(
      database,
      endUserList,
      { scope, now: 1 },
      page,
      toSearchTerm(text) as SearchTerm,
    )
    const { rows } = await sql<{ id: string; seq: number }>`select id, seq from clients`.execute(db)
    return rows.filter(({ seq }) => found.seqs.map(Number).includes(Number(seq))).map(({ id }) => id)
  }
  expect(await find('plain')).toEqual(['usr_plain'])
  expect(await find('engines')).toEqual(['usr_mailed'])
  expect(await find('mailed')).toEqual(['usr_mailed'])
  expect(await find('old-desk')).toEqual(['usr_bound'])
  expect(await find('bound')).toEqual(['usr_bound'])
  await sql`update devices set name = 'NEW-LAPTOP' where id = 'dev_1'`.execute(db)
  expect(await find('old-desk')).toEqual([])
  expect(await find('new-lap')).toEqual(['usr_bound'])
  await sql`delete from devices where id = 'dev_1'`.execute(db)
  expect(await find('new-lap')).toEqual([])
  expect(await find('bound')).toEqual(['usr_bound'])
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

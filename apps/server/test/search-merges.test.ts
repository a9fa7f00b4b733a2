import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Tx } from '../src/db/index.ts'
import { lastIndexed } from '../src/db/lists/search-merges.ts'
import { type OpenDatabase, openDatabase } from '../src/db/open.ts'
import { transact } from '../src/db/transact.ts'
import { copyMigratedFile } from './migrated.ts'
import { insertOwners } from './owner-rows.ts'

let dataDir: string
let database: OpenDatabase & { dialect: 'sqlite' }

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'keyward-merges-'))
  await copyMigratedFile(dataDir)
  const opened = openDatabase({ url: undefined, dataDir })
  if (opened.dialect !== 'sqlite') throw new Error('expected an embedded database')
  database = opened
  const run = (statement: string) => sql.raw(statement).execute(database.db)
  await insertOwners(database.db, [{ id: 'own_1', name: 'V', email: 'v', created_at: 1 }])
  await run(`insert into apps (id, owner_id, app_id, name, secret_sealed, secret_hash, signing_kid, signing_public,
    signing_sealed, version, created_at) values ('app_1', 'own_1', 'A', 'A', '', '', '', '', '', '1.0.0', 1)`)
})
afterEach(async () => {
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

let made = 0

test('deletes single rows from a search, whatever its index makes of them', async () => {
  const run = (statement: string) => sql.raw(statement).execute(database.db)
  const values = Array.from({ length: 200 }, (_, at) => `(${at + 1}, 'record ${at} of many')`)
  await run(`insert into audit_search (rowid, body) values ${values}`)
  const left = () => sql<{ n: number }>`select count(*) as n from audit_search`.execute(database.db)
  for (let row = 1; row <= 50; row += 1) {
    await transact(database.db, async (tx) => {
      await sql`insert into audit_search (rowid, body) values (${200 + row}, 'one more')`.execute(tx)
      await sql`delete from audit_search where rowid = ${row}`.execute(tx)
    })
  }
  expect((await left()).rows).toEqual([{ n: 200 }])
})

const license = () => {
  made += 1
  const key = createHash('sha256').update(String(made)).digest('hex').slice(0, 25).toUpperCase()
  return {
    id: `lic_${made}`,
    owner_id: 'own_1',
    app_id: 'app_1',
    key,
    key_normalized: key,
    expires_at: 9e12,
    created_at: 1,
  }
}

const insert = (tx: Tx, count: number) =>
  tx
    .insertInto('licenses')
    .values(Array.from({ length: count }, license))
    .execute()

const count = (text: string): number =>
  Number(Object.values(database.handles.reader.database.prepare(text).get() ?? {})[0])
const newOnes = `select seq as hit from licenses where seq > (${lastIndexed})`
const segments = () => count('select count(distinct segid) from license_search_idx')

/** Pages of the log that each commit writes. */
async function pagesOf(times: number, commit: () => Promise<unknown>): Promise<number[]> {
  const pages = []
  const inLog = () =>
    Number(database.handles.reader.database.prepare('pragma wal_checkpoint(noop)').get()?.log)
  for (let done = 0; done < times; done += 1) {
    const before = inLog()
    await commit()
    // A log that shrank has started anew.
    if (inLog() >= before) pages.push(inLog() - before)
  }
  return pages
}

/** Fills the index in parts as large as those that SQLite merges with hundreds of pages at once. */
async function fillIndex() {
  for (let part = 0; part < 10; part += 1) {
    await transact(database.db, (tx) =>
      sql
        .raw(`insert into "licenses" (id, owner_id, app_id, key, key_normalized, expires_at, created_at)
          with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < 2000)
          select 'fill_${part}_' || i, 'own_1', 'app_1', i, hex(randomblob(12)), 9e12, 1 from numbers`)
        .execute(tx),
    )
  }
}

test.for([
  { name: 'short', rows: 1 },
  { name: 'long', rows: 1000 },
])('no commit of a $name transaction merges hundreds of pages of the search index', async ({ rows }) => {
  await fillIndex()
  const pages = await pagesOf(300, () => transact(database.db, (tx) => insert(tx, 1), { rows }))
  expect(pages.length).toBeGreaterThan(250)
  expect(Math.max(...pages)).toBeLessThan(100)
})

test('a new device and the freeing of all devices write little, however long the names of the others are', async () => {
  const run = (statement: string) => transact(database.db, (tx) => sql.raw(statement).execute(tx))
  await run(`insert into clients (id, owner_id, app_id, username, username_normalized, expires_at, created_at)
    values ('usr_1', 'own_1', 'app_1', 'ada', 'ada', 9e12, 1)`)
  let last = 0
  const add = () => {
    last += 1
    return run(`insert into devices (id, owner_id, app_id, client_id, hwid, hwid_hash, name, first_seen_at, last_seen_at)
      values ('dev_${last}', 'own_1', 'app_1', 'usr_1', '', '${last}', hex(randomblob(128)), 1, 1)`)
  }
  for (let at = 0; at < 60; at += 1) await add()
  const added = await pagesOf(10, add)
  expect(Math.max(...added)).toBeLessThan(60)
  const freed = await pagesOf(1, () => run(`delete from devices where client_id = 'usr_1'`))
  expect(Math.max(...freed)).toBeLessThan(60)
})

test('the parts of the search index stay few, and every license is found', async () => {
  await fillIndex()
  for (let at = 0; at < 500; at += 1) await transact(database.db, (tx) => insert(tx, 1))
  expect(segments()).toBeLessThan(30)
  expect(count('select count(*) from licenses')).toBe(20_500)
  const missing = `select count(*) from licenses l where l.seq % 50 = 0 and not exists (
    select 1 from license_search s where s.rowid = l.seq and license_search match
      '"' || substr(l.key_normalized, 3, 3) || '"') and l.seq not in (${newOnes})`
  expect(count(missing)).toBe(0)
})

test('new licenses wait for the index until they are many, and none is left out, whatever happens to the last ones', async () => {
  const run = (statement: string) => transact(database.db, (tx) => sql.raw(statement).execute(tx))
  const waiting = () => count(`select count(*) from (${newOnes})`)
  for (let at = 0; at < 60; at += 1) await transact(database.db, (tx) => insert(tx, 1))
  expect(waiting()).toBe(60)
  // A note of a license that waits, and the deletion of the last one, whose number the next one gets.
  await run(`update "licenses" set "note" = 'summer' where seq = 30`)
  await run('delete from "licenses" where seq = 60')
  expect(waiting()).toBe(59)
  await transact(database.db, (tx) => insert(tx, 10))
  expect(waiting()).toBe(0)
  const found = (text: string) =>
    count(`select count(*) from license_search where license_search match '"${text}"'`)
  expect(found('mme')).toBe(1)
  expect(count('select count(*) from license_search_docsize')).toBe(69)
  await run('delete from "licenses" where seq > 40')
  await run(`update "licenses" set "note" = 'winter' where seq = 30`)
  await transact(database.db, (tx) => insert(tx, 1))
  expect(waiting()).toBe(1)
  expect(count(`select seq from (${newOnes}) join licenses on seq = hit`)).toBe(41)
  expect([found('mme'), found('int')]).toEqual([0, 1])
})

test('a rolled back transaction neither adds to the index nor prevents its settings', async () => {
  await expect(
    transact(database.db, async (tx) => {
      await insert(tx, 10)
      throw new Error('no')
    }),
  ).rejects.toThrow('no')
  await transact(database.db, (tx) => insert(tx, 1))
  expect(count(`select v from license_search_config where k = 'automerge'`)).toBe(0)
  await transact(database.db, (tx) => insert(tx, 63))
  expect(count('select count(*) from license_search_docsize')).toBe(64)
})

// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import { makePostgresDatabase } from '../harness.ts'

test('events of an earlier version keep their place in the share of their kind', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-activity-'))
  const isPostgres = process.env.TEST_DATABASE === 'postgres'
  const database = openDatabase({ url: isPostgres ? await makePostgresDatabase() : undefined, dataDir })
  const { db } = database
  const before = migrations.findIndex(({ name }) => name === '0032-activity-shares')
  await migrate(database, migrations.slice(0, before), { now: 1 })
  const events = [
    ['init', null],
    ['refused', 'init'],
    ['refused', 'login'],
    ['refused', null],
    ['end_user.signed_in', null],
    ['device.bound', null],
    ['dropped', null],
  ] as const
  for (const [at, [kind, call]] of events.entries()) {
    await sql`insert into activity (reference, owner_id, app_id, kind, call, times, created_at, last_at)
      values (${`REF${at}`}, 'own_1', 'app_1', ${kind}, ${call}, 1, ${at}, ${at})`.execute(db)
  }
  await migrate(database, migrations, { now: 2 })
  const rows = await db.selectFrom('activity').select('share').orderBy('seq').execute()
  expect(rows.map(({ share }) => share)).toEqual([
    'init',
    'init',
    'refusals',
    'refusals',
    'sign_ins',
    'other',
    'other',
  ])
  const shares = await db.selectFrom('activity_shares').select(['share', 'n']).orderBy('share').execute()
  expect(shares.map(({ share, n }) => [share, Number(n)])).toEqual([
    ['init', 2],
    ['other', 2],
    ['refusals', 2],
    ['sign_ins', 1],
  ])
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

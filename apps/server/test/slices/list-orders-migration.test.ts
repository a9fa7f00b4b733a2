import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import { never } from '../../src/db/stored-end.ts'
import { resetOwnerPassword } from '../../src/modules/account/account.operator.ts'
import { makePostgresDatabase, startServer } from '../harness.ts'
import { startOfTests } from '../migrated.ts'

test('licenses and end users of an earlier version are listed by end, type and status, each once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-orders-'))
  const url = process.env.TEST_DATABASE === 'postgres' ? await makePostgresDatabase() : undefined
  const earlier = openDatabase({ url, dataDir })
  const before = migrations.findIndex(({ name }) => name === '0051-list-orders')
  await migrate(earlier, migrations.slice(0, before), { now: 1 })
  const run = (statement: string) => sql.raw(statement).execute(earlier.db)
  await run(`insert into accounts (id, name, email, email_normalized, password_hash, created_at)
    values ('own_ada', 'ada', 'ada@example.com', 'ada@example.com', 'x', 1)`)
  await run(`insert into owners (id, account_id, name, created_at) values ('own_ada', 'own_ada', 'ada', 1)`)
  await run(`insert into apps (id, owner_id, app_id, name, secret_sealed, secret_hash, signing_kid, signing_public,
    signing_sealed, version, created_at) values ('app_ada', 'own_ada', 'ABCDEFGH', 'A', '', '', '', '', '', '1.0.0', 1)`)
  await run(`insert into license_types (id, owner_id, app_id, name, name_normalized, term, grace_days, devices,
    seat_timeout_seconds, features, trial, resellable, created_at)
    values ('lty_ada', 'own_ada', 'app_ada', 'Pro', 'pro', 'forever', 0, 1, 600, '[]', 0, 0, 1)`)
  // Some end in the same millisecond, some never, some have ended.
  const ends = [5, 5, -3, 9, null, 1, null, 5, -1, 30].map((days) =>
    days === null ? never : startOfTests + days * day,
  )
  for (const [at, end] of ends.entries()) {
    const isUsed = at % 2
    const type = at % 3 === 0 ? "'lty_ada'" : 'null'
    const user = isUsed ? `'usr_${at}'` : 'null'
    await run(`insert into licenses (id, owner_id, app_id, key, key_normalized, used, banned, expires_at,
      type_id, created_at) values ('lic_${at}', 'own_ada', 'app_ada', 'KEY${at}', 'key${at}', ${isUsed},
      ${at === 3 ? 1 : 0}, ${end}, ${type}, 1)`)
    if (!isUsed) continue
    await run(`insert into clients (id, owner_id, app_id, license_id, username, username_normalized, expires_at,
      created_at) values (${user}, 'own_ada', 'app_ada', 'lic_${at}', 'user${at}', 'user${at}', ${end}, 1)`)
    await run(`update licenses set client_id = ${user} where id = 'lic_${at}'`)
  }
  await migrate(earlier, migrations, { now: 2 })
  await earlier.close()

  const on = await startServer({ DATA_DIR: dataDir, ...(url === undefined ? {} : { DATABASE_URL: url }) })
  try {
    const password = (await resetOwnerPassword(on.database, on.clock, 'ada@example.com'))?.password
    const signedIn = await on.call('POST', '/auth/login', { body: { email: 'ada@example.com', password } })
    const { token } = signedIn.json.data
    const list = async (noun: 'licenses' | 'clients', query: string) => {
      const { status, json } = await on.call('GET', `/${noun}?${query}`, { token })
      expect(status).toBe(200)
      return json.data[noun].map(({ _id }: { _id: string }) => Number(_id.slice(4))) as number[]
    }
    const byEnd = (rows: number[]) => rows.toSorted((a, b) => (ends[a] ?? 0) - (ends[b] ?? 0) || a - b)
    const all = ends.map((_, at) => at)
    const used = all.filter((at) => at % 2 === 1)
    const pages = async (query: string) => [
      ...(await list('licenses', `${query}&limit=4&page=1`)),
      ...(await list('licenses', `${query}&limit=4&page=2`)),
      ...(await list('licenses', `${query}&limit=4&page=3`)),
    ]
    expect(await pages('sort=expires_first')).toEqual(byEnd(all))
    expect(await pages('sort=expires_last')).toEqual(byEnd(all).toReversed())
    expect(await list('clients', 'sort=expires_first')).toEqual(byEnd(used))
    expect(await list('licenses', 'sort=expires_first&type=lty_ada')).toEqual(byEnd([0, 3, 6, 9]))
    expect(await list('licenses', 'status=banned&sort=expires_first')).toEqual([3])
    expect(await list('licenses', 'status=unused&sort=expires_last')).toEqual(byEnd([0, 4, 6]).toReversed())
  } finally {
    await on.close()
  }
})

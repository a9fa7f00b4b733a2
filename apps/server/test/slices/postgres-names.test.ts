import { hostname } from 'node:os'
import pg from 'pg'
import { expect, test } from 'vitest'
import { version } from '../../src/core/version.ts'
import { queryOnce } from '../../src/db/postgres/probe.ts'
import { makePostgresCopy, startServer } from '../harness.ts'

const own = `keyward ${version} ${hostname()}`.slice(0, 63)

test.each([
  ['its version and host', '', own],
  ['the name that DATABASE_URL gives', '?application_name=licenses', 'licenses'],
])('each connection shows %s in pg_stat_activity', async (_what, query, name) => {
  const database = await makePostgresCopy()
  const url = `${database}${query}`
  const on = await startServer({ DATABASE_URL: url })
  const watcher = new pg.Client({ connectionString: database, application_name: 'watcher' })
  await watcher.connect()
  try {
    // Ready asks over the shared connections, and a failed sign-in over the pool.
    expect((await on.call('GET', '/ready')).status).toBe(200)
    await on.call('POST', '/auth/login', {
      body: { email: 'nobody@example.com', password: 'wrong-password' },
    })
    const { rows } = await watcher.query(
      `select distinct application_name as name, count(*) over () >= 3 as are_all from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    )
    expect(rows).toEqual([{ name, are_all: true }])
    const probed = await queryOnce(url, (probe) => probe.query('show application_name'))
    expect(probed.rows).toEqual([{ application_name: name }])
  } finally {
    await watcher.end()
    await on.close()
  }
})

// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { allApps } from '../../src/core/actor.ts'
import { hour } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { findStart } from '../../src/db/lists/places.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { recount } from '../recount.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
const other = appForAll(owner)

interface Row {
  seq: number
  appId: string
  used: number
  banned: number
  expiresAt: number
}

let rows: Row[] = []
/** Three or four rows to a place, expiring around now, some of them within the hours that are counted by row. */
beforeAll(async () => {
  const now = on.clock.now()
  rows = Array.from({ length: 90 }, (_, at) => ({
    seq: 5000 + at * 4800 + (at % 3),
    appId: at % 4 === 0 ? other._id : app._id,
    used: at % 3 === 0 ? 1 : 0,
    banned: at % 7 === 0 ? 1 : 0,
    expiresAt: now + ((at * 37) % 300) * hour - 100 * hour,
  }))
  const overriding = on.database.dialect === 'postgres' ? sql`overriding system value` : sql``
  for (const row of rows) {
    await sql`insert into licenses (seq, id, owner_id, app_id, key, key_normalized, used, banned, expires_at, created_at)
      ${overriding} values (${row.seq}, ${newId('lic')}, ${owner.id}, ${row.appId}, ${`K${row.seq}`}, ${`K${row.seq}`},
        ${row.used}, ${row.banned}, ${row.expiresAt}, ${now})`.execute(on.database.db)
  }
})

test.each(['owner', 'app'] as const)(
  'a page over all rows of the %s starts where a scan of all rows would',
  async (holder) => {
    const appId = holder === 'app' ? app._id : undefined
    const filter = { scope: allApps(owner.id), appId, now: on.clock.now() }
    const mine = rows.filter((row) => appId === undefined || row.appId === appId)
    const ofApp = appId === undefined ? sql`` : sql`and t.app_id = ${appId}`
    for (const order of ['asc', 'desc'] as const) {
      const inOrder = mine.map(({ seq }) => seq).sort((a, b) => (order === 'asc' ? a - b : b - a))
      for (let offset = 0; offset < mine.length; offset += 3) {
        const start = await findStart(on.database, 'licenses', filter, { order, offset })
        const found = await sql<{ seq: number }>`select t.seq as seq from licenses t
          where t.owner_id = ${owner.id} ${ofApp} ${start.from}
          order by t.seq ${sql.raw(order)} limit 4 offset ${start.offset}`.execute(on.database.lists)
        expect(found.rows.map(({ seq }) => Number(seq))).toEqual(inOrder.slice(offset, offset + 4))
        expect(start.offset).toBeLessThan(4)
      }
    }
  },
)

test('counts follow every change of a license and an end user', async () => {
  const id = async (seq: number) =>
    (
      await on.database.db
        .selectFrom('licenses')
        .select('id')
        .where('seq', '=', seq)
        .executeTakeFirstOrThrow()
    ).id
  const [first, second, third] = await Promise.all(rows.slice(0, 3).map(({ seq }) => id(seq)))
  await owner.call('POST', `/licenses/${first}/toggle-ban`, {})
  await owner.call('PUT', `/licenses/${second}`, { expiresAt: on.clock.inDays(400) })
  await owner.call('DELETE', `/licenses/${third}`)
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
})

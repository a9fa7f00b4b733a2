import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { makeLicenses, registerUser } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { allUsed, makeShop, makeType, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'
import { statementsOf } from '../statements.ts'

const on = serverForAll({ SMTP_URL: 'smtp://127.0.0.1:9', PUBLIC_URL: 'http://127.0.0.1:4000' })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

/** Not what begins and ends transactions, looks for work, sends the mail of an earlier order, or waits in this test. */
const isOwn = (text: string): boolean =>
  /"(shop\w*|erasures|customer\w*|license\w*|owners|(app|buyer)_mails|audit\w*|webhook_deliveries)"|insert into "mails"/.test(
    text,
  ) &&
  !/^\s*(with recursive|select "(seq|id)" from "\w+" where "(due_at|claimed_until|id)" |select "mail"|select "l"."key" from "shop_orders")/.test(
    text,
  )

test('an order takes at most 26 statements until its mail is queued, from its event on', async () => {
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  const buy = async (number: string, email: string) => {
    expect(await sell(on, shop, paid(number, { email }))).toBe(200)
    await eventually(async () => {
      const order = on.database.db.selectFrom('shop_orders').select('mail').where('number', '=', number)
      expect((await order.executeTakeFirst())?.mail).toBe('queued')
    })
  }
  await buy('A-1', 'ada@buyers.example')
  for (const [number, email] of [
    ['A-2', 'ada@buyers.example'],
    ['G-1', 'grace@buyers.example'],
  ] as const) {
    const sent = (await statementsOf(on.database, () => buy(number, email))).map(({ text }) => text)
    const last = sent.findLastIndex((text) => text.startsWith('insert into "webhook_deliveries"'))
    const own = sent.slice(0, last + 1).filter(isOwn)
    expect(own.filter((text) => text.startsWith('insert into "mails"'))).toHaveLength(1)
    expect(own.length, own.join('\n')).toBeLessThanOrEqual(26)
  }
})

test('an edit of the end of a used license takes at most 8 statements, and a lock where rows need one', async () => {
  await registerUser(on, owner, app)
  const { licenses } = (await owner.call('GET', `/licenses?app=${app.appId}`)).json.data
  const [used] = licenses.filter((license: { used: boolean }) => license.used)
  const edit = (days: number, seen?: object) =>
    owner.call('PUT', `/licenses/${used._id}`, { expiresAt: on.clock.inDays(days), seen })
  const { license } = (await edit(40)).json.data
  for (const seen of [undefined, { expiresAt: license.expiresAt, devices: license.devices }]) {
    const sent = (await statementsOf(on.database, () => edit(41, seen))).map(({ text }) => text)
    const begun = sent.slice(sent.findIndex((text) => text.startsWith('begin')) + 1)
    const own = begun.filter((text) => isOwn(text) || /"(clients|grants)"/.test(text))
    expect(own.filter((text) => text.startsWith('insert into "grants"'))).toHaveLength(1)
    expect(own.filter((text) => !text.endsWith('for update')).length, own.join('\n')).toBeLessThanOrEqual(8)
    expect(own.length).toBeLessThanOrEqual(9)
  }
})

test.runIf(process.env.TEST_DATABASE === 'postgres')(
  'a write finds its own record by the index, also while the log has no statistics',
  async () => {
    const { db } = on.database
    const [license] = await makeLicenses(on, owner, app)
    const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
    await sql`alter table audit set (autovacuum_enabled = off)`.execute(db)
    const scans = async () => {
      const { rows } = await sql<{ whole: number; byIndex: number }>`
        select seq_scan::int as whole, idx_scan::int as "byIndex"
        from pg_stat_user_tables where relname = 'audit'`.execute(db)
      return rows[0] ?? { whole: 0, byIndex: 0 }
    }
    const edits = 40
    const before = await scans()
    for (let n = 0; n < edits; n += 1) {
      const { status } = await owner.call('PUT', `/licenses/${license!._id}`, { note: `note ${n}` })
      expect(status).toBe(200)
    }
    // Their records name objects, two in one transaction.
    for (let n = 0; n < edits / 2; n += 1) await sell(on, shop, paid(`by index ${n}`))
    await allUsed(on, shop._id)
    await expect
      .poll(async () => (await scans()).byIndex - before.byIndex)
      .toBeGreaterThanOrEqual(1.5 * edits)
    expect((await scans()).whole - before.whole).toBeLessThan(edits / 4)
  },
)

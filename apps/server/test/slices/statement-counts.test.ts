import { expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makeShop, makeType, sell } from '../shop-actor.ts'
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
  !/^\s*(with recursive|select "(seq|id)" from "\w+" where "(due_at|claimed_until|id)" |select "mail")/.test(
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

import { expect, test } from 'vitest'
import { hour } from '../../src/core/clock.ts'
import { makeApp, makePremium, signUp } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { startServer } from '../harness.ts'
import { isFull, rounds, times } from '../rounds.ts'

const licenses = rounds(500, 100_000)
/** Half of the day's number. */
const ofDay = 100

/** The median of so many checks, one after the other, in milliseconds. */
async function medianOf(check: () => Promise<unknown>, goesOn: () => boolean): Promise<number> {
  const took: number[] = []
  while (goesOn()) {
    const begun = performance.now()
    await check()
    took.push(performance.now() - begun)
  }
  return took.sort((a, b) => a - b)[Math.floor(took.length / 2)] ?? 0
}

test(`${licenses} licenses that end on one day are noted once each, as many are told as the day allows, and no check notices`, async () => {
  const to: string[] = []
  const mailer = { send: async (mail: { to: string }) => void to.push(mail.to), close: () => {} }
  const environment = { SMTP_URL: 'smtp://127.0.0.1:9', PUBLIC_URL: 'http://127.0.0.1:4000' }
  const on = await startServer(environment, { mailer, deliveriesEveryMs: 20 })
  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner, 'Atlas')
  const { db } = on.database
  await db
    .updateTable('owners')
    .set({ max_mails: 2 * ofDay })
    .where('id', '=', owner.id)
    .execute()
  const [first] = (
    await owner.call('POST', '/licenses', {
      app: app._id,
      expiresAt: on.clock.inDays(9),
      customer: 'a@b.example',
    })
  ).json.data.licenses
  const row = await db
    .selectFrom('licenses')
    .selectAll()
    .where('id', '=', first._id)
    .executeTakeFirstOrThrow()
  const customer = await db.selectFrom('customers').selectAll().executeTakeFirstOrThrow()
  for (let at = 0; at < licenses; at += 500) {
    const part = Array.from({ length: Math.min(500, licenses - at) }, (_, index) =>
      String(at + index).padStart(28, '0'),
    )
    const people = part.map((name) => {
      const { seq: _, ...columns } = customer
      const email = `${Number(name)}@many.example`
      return { ...columns, id: `cus_many${name}`, email, email_normalized: email }
    })
    await db.insertInto('customers').values(people).execute()
    await db
      .insertInto('licenses')
      .values(
        part.map((name) => {
          const { seq: _, ...columns } = row
          const key = `MANY-${name}`
          return {
            ...columns,
            ...{
              id: `lic_many${name}`,
              key,
              key_normalized: key.replaceAll('-', ''),
              customer_id: `cus_many${name}`,
            },
          }
        }),
      )
      .execute()
  }
  const check = () => owner.call('GET', `/licenses/${first._id}`)
  let left = rounds(10, 100)
  await medianOf(check, () => left-- > 0)
  left = rounds(30, 300)
  const before = await medianOf(check, () => left-- > 0)
  const body = { endsSoonDays: [14] }
  expect((await owner.call('PUT', `/apps/${app._id}/customer-mails`, body)).status).toBe(200)
  const countOf = async (states: ('sent' | 'waiting')[]) =>
    Number(
      (
        await db
          .selectFrom('customer_mails')
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .where('state', 'in', states)
          .executeTakeFirstOrThrow()
      ).n,
    )
  let isDone = false
  const told = eventually(
    async () => {
      expect(await countOf(['sent'])).toBe(ofDay)
      expect(await countOf(['sent', 'waiting'])).toBe(licenses + 1)
    },
    { timeout: 600_000, interval: 200 },
  )
  const meanwhile = medianOf(check, () => !isDone)
  await told.finally(() => {
    isDone = true
  })
  const during = await meanwhile
  on.clock.advance(hour)
  await times(4, () => owner.call('PUT', `/apps/${app._id}/customer-mails`, body))
  await eventually(async () => {
    const { look_at } = await db
      .selectFrom('customer_mail_settings')
      .select('look_at')
      .where('app_id', '=', app._id)
      .executeTakeFirstOrThrow()
    expect(look_at).toBeGreaterThan(on.clock.now())
  })
  expect(await countOf(['sent', 'waiting'])).toBe(licenses + 1)
  expect([new Set(to).size, to.length]).toEqual([ofDay, ofDay])
  console.log(
    `${licenses} licenses: a check takes ${before.toFixed(2)} ms before, ${during.toFixed(2)} ms meanwhile`,
  )
  if (isFull) expect(during).toBeLessThan(before * 1.1 + 1)
  await on.close()
})

// On PostgreSQL in the full run: customer-notices sends the same statements there.
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { hour } from '../../src/core/clock.ts'
import { never } from '../../src/db/stored-end.ts'
import { makeApp, makePremium, signUp, startProgram } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { startServer } from '../harness.ts'
import { isFull, rounds, times } from '../rounds.ts'

const licenses = rounds(200, 100_000)
/** Half of the day's number. */
const ofDay = rounds(100, 20_000)

/** Checks for so long, one after the other: how many milliseconds each took. */
async function timed(check: () => Promise<unknown>, forMs: number): Promise<number[]> {
  const took: number[] = []
  for (const end = performance.now() + forMs; performance.now() < end; ) {
    const begun = performance.now()
    await check()
    took.push(performance.now() - begun)
    await turn()
  }
  return took
}

const medianOf = (took: number[]): number => took.sort((a, b) => a - b)[Math.floor(took.length / 2)] ?? 0

test(`${licenses} licenses that end on one day are noted once each, as many are told as the day allows, and no check notices`, async () => {
  const to: string[] = []
  let held: Promise<void> | undefined
  const send = async (mail: { to: string }) => {
    await held
    to.push(mail.to)
  }
  const mailer = { send, close: () => {} }
  const environment = { SMTP_URL: 'smtp://127.0.0.1:9', PUBLIC_URL: 'http://127.0.0.1:4000' }
  const on = await startServer(environment, { mailer, deliveriesEveryMs: rounds(100, 2000) })
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
  if (on.database.dialect === 'postgres') await sql`analyze`.execute(db)
  const program = await startProgram(on, app)
  expect((await program.call('POST', '/license', { licenseKey: first.key, hwid: 'pc-1' })).status).toBe(200)
  const check = async () => expect((await program.call('GET', '/session')).status).toBe(200)
  const countOf = async (states: readonly ('sent' | 'waiting' | 'queued')[]) => {
    const { n } = await on.database.lists
      .selectFrom('customer_mails')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('state', 'in', states)
      .executeTakeFirstOrThrow()
    return Number(n)
  }
  const all = ['sent', 'waiting', 'queued'] as const
  const body = { endsSoonDays: [14] }
  const goOn = async () =>
    expect((await owner.call('PUT', `/apps/${app._id}/customer-mails`, body)).status).toBe(200)
  /** The look that runs ends with its part, and no other begins. */
  const stop = async () => {
    await db.updateTable('customer_mail_settings').set({ look_at: never }).execute()
    for (let noted = -1, now = await countOf(all); noted !== now; now = await countOf(all)) {
      noted = now
      await timed(check, rounds(1, 300))
    }
  }
  // Whatever else the machine does meets both in turn.
  const turnMs = rounds(10, 3000)
  await timed(check, turnMs)
  const [working, resting]: [number[], number[]] = [[], []]
  while ((await countOf(all)) <= licenses || (await countOf(['sent'])) < ofDay) {
    await goOn()
    working.push(...(await timed(check, turnMs)))
    await stop()
    let release = () => {}
    held = new Promise((resolve) => {
      release = resolve
    })
    resting.push(...(await timed(check, turnMs / 2)))
    release()
  }
  const [during, without] = [medianOf(working), medianOf(resting)]
  await goOn()
  await eventually(async () => expect(await countOf(['sent'])).toBe(ofDay))
  on.clock.advance(hour)
  await times(4, goOn)
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
  const ratio = during / without
  if (isFull) {
    console.log(
      `a check takes ${without.toFixed(3)} ms, ${during.toFixed(3)} ms while customers are told: × ${ratio.toFixed(3)}`,
    )
    // At most 1.1 on a quiet machine; other load makes it more.
    expect(ratio).toBeLessThan(1.5)
  }
  await on.close()
}, 1_800_000)

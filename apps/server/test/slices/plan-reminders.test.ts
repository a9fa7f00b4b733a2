// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { day, hour } from '../../src/core/clock.ts'
import { createSeal } from '../../src/core/crypto.ts'
import { MailError } from '../../src/modules/mail/mail.error.ts'
import type { Mail, Mailer } from '../../src/modules/mail/mail.service.ts'
import { queueReminders, tidyReminders } from '../../src/modules/plans/reminders.service.ts'
import type { Ctx } from '../../src/service/ctx.ts'
import { type Owner, refusal, signUp } from '../actors.ts'
import { ctxOf, startServer, type TestServer } from '../harness.ts'
import { insertOwners } from '../owner-rows.ts'
import { queuedMails } from '../queued-mails.ts'

let on: TestServer
beforeEach(async () => {
  // Its first look for mails can come late: what it finds then still waits afterwards.
  const send = async () => {
    throw new MailError({ code: 'ECONNECTION' })
  }
  on = await startServer({}, { mailer: { send, close: () => {} } })
})
afterEach(() => on.close())

const ctx = () => ctxOf(on)

const endPremiumIn = async (owner: Owner, ms: number) => {
  const premium_until = on.clock.now() + ms
  await on.database.db.updateTable('owners').set({ premium_until }).where('id', '=', owner.id).execute()
}

/** Does something after each transaction. */
const afterEachWrite = (work: () => Promise<void>): Ctx => {
  const tx: Ctx['tx'] = async (...args) => {
    const result = await ctx().tx(...args)
    await work()
    return result
  }
  return { ...ctx(), tx }
}

const sentTo = async () => (await queuedMails(on)).map(({ to }) => to)

/** Queues the reminders that are due and returns whom they go to. */
async function run(): Promise<string[]> {
  const before = (await sentTo()).length
  await queueReminders(ctx())
  return (await sentTo()).slice(before)
}

test('reminds an owner once seven days and once one day before the end', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, 7 * day + 1)
  expect(await run()).toEqual([])
  on.clock.advance(1)
  expect(await run()).toEqual([owner.email])
  on.clock.advance(6 * day - 1)
  expect(await run()).toEqual([])
  on.clock.advance(1)
  expect(await run()).toEqual([owner.email])
  on.clock.advance(day - 1)
  expect(await run()).toEqual([])
  on.clock.advance(1)
  expect(await run()).toEqual([])
})

test('the message contains the account, the end, the consequences and where to renew', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, 3 * day)
  await run()
  on.clock.advance(2.5 * day)
  await queueReminders({ ...ctx(), config: { ...on.config, publicUrl: 'https://keys.example.com/k' } })
  const [early, late, ...more] = await queuedMails(on)
  expect(more).toEqual([])
  expect(early?.subject).toBe('Your premium plan ends on Mar 07, 2026, 10:20 UTC')
  expect(late?.subject).toBe('Your premium plan ends within a day')
  for (const text of [early?.text, early?.html, late?.text, late?.html]) {
    for (const part of [
      owner.email,
      'Mar 07, 2026, 10:20 UTC',
      'limits of the free plan',
      'Nothing is deleted',
      'Your resellers can no longer generate licenses',
    ]) {
      expect(text).toContain(part)
    }
  }
  expect(early?.text).toContain('the Subscription page of your console')
  expect(late?.text).toContain('https://keys.example.com/k/subscription')
  expect(late?.html).toContain('<a href="https://keys.example.com/k/subscription">')
})

test("escapes the owner's name in the message and rejects line breaks in it", async () => {
  const person = { email: 'eve@example.com', password: 'correct horse' }
  const register = (name: string) => on.call('POST', '/auth/register', { body: { ...person, name } })
  expect(refusal(await register('Eve\r\nBcc: all@example.com'))).toBe('invalid_input')
  expect((await register('<b>Eve</b> & "Co"')).status).toBe(201)
  await on.database.db
    .updateTable('owners')
    .set({ premium_until: on.clock.now() + day })
    .execute()
  await run()
  const [mail] = await queuedMails(on)
  expect(mail?.to).toBe('eve@example.com')
  expect(mail?.html).toContain('Hello &lt;b&gt;Eve&lt;/b&gt; &amp; &quot;Co&quot;,')
  expect(mail?.text).toContain('Hello <b>Eve</b> & "Co",')
})

test('ten concurrent runs send each message once', async () => {
  const owners = [await signUp(on), await signUp(on), await signUp(on)]
  for (const [index, owner] of owners.entries()) await endPremiumIn(owner, (index + 1) * hour)
  const runs = () => Promise.all(Array.from({ length: 10 }, () => queueReminders(ctx())))
  await runs()
  await runs()
  expect((await sentTo()).sort()).toEqual(owners.map(({ email }) => email).sort())
})

test('after downtime into the last day sends only the last reminder', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, 8 * day)
  expect(await run()).toEqual([])
  on.clock.advance(7.5 * day)
  expect(await run()).toEqual([owner.email])
  expect((await queuedMails(on))[0]?.subject).toBe('Your premium plan ends within a day')
  expect(await run()).toEqual([])
})

test('sends nothing on the free plan, after the end, or long before it', async () => {
  await signUp(on)
  await endPremiumIn(await signUp(on), -1)
  await endPremiumIn(await signUp(on), 0)
  await endPremiumIn(await signUp(on), 30 * day)
  expect(await run()).toEqual([])
})

test('a renewal restarts both reminders', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, 6 * day)
  expect(await run()).toEqual([owner.email])
  await endPremiumIn(owner, 36 * day)
  expect(await run()).toEqual([])
  on.clock.advance(30 * day)
  expect(await run()).toEqual([owner.email])
  on.clock.advance(5.5 * day)
  expect(await run()).toEqual([owner.email])
})

test('sends no reminder for an old end after a renewal during the run', async () => {
  const [first, second] = [await signUp(on), await signUp(on)]
  await endPremiumIn(first, hour)
  await endPremiumIn(second, 2 * hour)
  const renewing = afterEachWrite(async () => endPremiumIn(second, 30 * day))
  await queueReminders(renewing)
  expect(await sentTo()).toEqual([first.email])
})

test('sends at most 200 messages per run, nearest end first', async () => {
  const premium_until = on.clock.now() + 2 * day
  const owner = (index: number) => ({
    id: `own_many_${index}`,
    name: 'Many',
    email: `many${index}@example.com`,
    premium_until: premium_until - index,
    created_at: 1,
  })
  await insertOwners(
    on.database.db,
    Array.from({ length: 205 }, (_, index) => owner(index)),
  )
  const first = await run()
  expect(first).toHaveLength(200)
  expect(first.slice(0, 2)).toEqual(['many204@example.com', 'many203@example.com'])
  expect(await run()).toHaveLength(5)
  expect(await run()).toEqual([])
})

test('a canceled run stops after the current message', async () => {
  for (const hours of [1, 2]) await endPremiumIn(await signUp(on), hours * hour)
  const stopping = new AbortController()
  await queueReminders(
    afterEachWrite(async () => stopping.abort()),
    stopping.signal,
  )
  expect(await sentTo()).toHaveLength(1)
  expect(await run()).toHaveLength(1)
})

test('deletes sent reminders 60 days after the end', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, day)
  await run()
  const kept = () => on.database.db.selectFrom('plan_reminders').select('owner_id').execute()
  on.clock.advance(61 * day)
  await tidyReminders(ctx())
  expect(await kept()).toHaveLength(1)
  on.clock.advance(1)
  await tidyReminders(ctx())
  expect(await kept()).toEqual([])
})

test('a server queues reminders soon after its start and shuts down cleanly', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, day)
  const sent: Mail[] = []
  const mailer: Mailer = { send: async (mail) => void sent.push(mail), close: () => {} }
  const { config, database, clock, dataDir } = on
  const seal = createSeal(config.secretKey ?? '')
  const more = { consoleDir: dataDir, logLevel: 'silent', mailer, remindersAfterMs: 0 }
  const second = await buildApp({ config, database, clock, seal, ...more })
  await second.ready()
  await expect.poll(() => sent.map(({ to }) => to)).toEqual([owner.email])
  await second.close()
  expect(await run()).toEqual([])
})

test('a reminder that an earlier version claimed before it died is sent', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, day)
  const claimed_at = on.clock.now()
  const row = { owner_id: owner.id, premium_until: claimed_at + day, days: 1, claimed_at, sent_at: null }
  await on.database.db.insertInto('plan_reminders').values(row).execute()
  expect(await run()).toEqual([owner.email])
  expect(await run()).toEqual([])
})

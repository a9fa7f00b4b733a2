import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { day, hour, minute } from '../../src/core/clock.ts'
import { createSeal } from '../../src/core/crypto.ts'
import { MailError } from '../../src/modules/mail/mail.error.ts'
import type { Mail, Mailer } from '../../src/modules/mail/mail.service.ts'
import { sendReminders, tidyReminders } from '../../src/modules/plans/reminders.service.ts'
import { type Owner, refusal, signUp } from '../actors.ts'
import { startServer, type TestServer } from '../harness.ts'
import { insertOwners } from '../owner-rows.ts'

/** A mail server that stores mails and rejects those that `refuse` returns an error for. */
class TestMailer implements Mailer {
  readonly mails: Mail[] = []
  attempts = 0
  refuse: (mail: Mail) => Error | undefined = () => undefined
  onMail: () => void = () => {}

  async send(mail: Mail): Promise<void> {
    this.attempts += 1
    const error = this.refuse(mail)
    if (error) throw error
    this.mails.push(mail)
    this.onMail()
  }

  close(): void {}
}

let on: TestServer
let box: TestMailer
beforeEach(async () => {
  on = await startServer()
  box = new TestMailer()
})
afterEach(() => on.close())

const ctx = () => ({ config: on.config, clock: on.clock, db: on.database.db })

const endPremiumIn = async (owner: Owner, ms: number) => {
  const premium_until = on.clock.now() + ms
  await on.database.db.updateTable('owners').set({ premium_until }).where('id', '=', owner.id).execute()
}

/** Runs the reminders once and returns recipients and errors. */
async function run() {
  const before = box.mails.length
  const errors: unknown[] = []
  await sendReminders(ctx(), box, { onError: (error) => errors.push(error) })
  return { to: box.mails.slice(before).map(({ to }) => to), errors }
}

const none = { to: [], errors: [] }
const down = () => new MailError({ code: 'ESOCKET', originalCode: 'ECONNREFUSED', command: 'CONN' })
const fullMailbox = () => new MailError({ code: 'EENVELOPE', command: 'RCPT TO', responseCode: 452 })
const noMailbox = () => new MailError({ code: 'EENVELOPE', command: 'RCPT TO', responseCode: 550 })

test('reminds an owner once seven days and once one day before the end', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, 7 * day + 1)
  expect(await run()).toEqual(none)
  on.clock.advance(1)
  expect(await run()).toEqual({ to: [owner.email], errors: [] })
  on.clock.advance(6 * day - 1)
  expect(await run()).toEqual(none)
  on.clock.advance(1)
  expect(await run()).toEqual({ to: [owner.email], errors: [] })
  on.clock.advance(day - 1)
  expect(await run()).toEqual(none)
  on.clock.advance(1)
  expect(await run()).toEqual(none)
})

test('the message contains the account, the end, the consequences and where to renew', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, 3 * day)
  await run()
  on.clock.advance(2.5 * day)
  await sendReminders({ ...ctx(), config: { ...on.config, publicUrl: 'https://keys.example.com/k' } }, box)
  const [early, late, ...more] = box.mails
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
  expect(box.mails[0]?.to).toBe('eve@example.com')
  expect(box.mails[0]?.html).toContain('Hello &lt;b&gt;Eve&lt;/b&gt; &amp; &quot;Co&quot;,')
  expect(box.mails[0]?.text).toContain('Hello <b>Eve</b> & "Co",')
})

test('ten concurrent runs send each message once', async () => {
  const owners = [await signUp(on), await signUp(on), await signUp(on)]
  for (const [index, owner] of owners.entries()) await endPremiumIn(owner, (index + 1) * hour)
  const runs = () => Promise.all(Array.from({ length: 10 }, () => sendReminders(ctx(), box)))
  await runs()
  await runs()
  expect(box.mails.map(({ to }) => to).sort()).toEqual(owners.map(({ email }) => email).sort())
})

test('after downtime into the last day sends only the last reminder', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, 8 * day)
  expect(await run()).toEqual(none)
  on.clock.advance(7.5 * day)
  expect((await run()).to).toEqual([owner.email])
  expect(box.mails[0]?.subject).toBe('Your premium plan ends within a day')
  expect(await run()).toEqual(none)
})

test('sends nothing on the free plan, after the end, or long before it', async () => {
  await signUp(on)
  await endPremiumIn(await signUp(on), -1)
  await endPremiumIn(await signUp(on), 0)
  await endPremiumIn(await signUp(on), 30 * day)
  expect(await run()).toEqual(none)
})

test('a renewal restarts both reminders', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, 6 * day)
  expect((await run()).to).toEqual([owner.email])
  await endPremiumIn(owner, 36 * day)
  expect(await run()).toEqual(none)
  on.clock.advance(30 * day)
  expect((await run()).to).toEqual([owner.email])
  on.clock.advance(5.5 * day)
  expect((await run()).to).toEqual([owner.email])
})

test('sends no reminder for an old end after a renewal during the run', async () => {
  const [first, second] = [await signUp(on), await signUp(on)]
  await endPremiumIn(first, hour)
  await endPremiumIn(second, 2 * hour)
  const slow: Mailer = {
    send: async (mail) => {
      await endPremiumIn(second, 30 * day)
      await box.send(mail)
    },
    close: () => {},
  }
  await sendReminders(ctx(), slow)
  expect(box.mails.map(({ to }) => to)).toEqual([first.email])
})

test('the next run sends a failed message, once', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, 5 * day)
  box.refuse = down
  expect((await run()).errors).toHaveLength(1)
  box.refuse = () => undefined
  on.clock.advance(10 * minute)
  expect(await run()).toEqual({ to: [owner.email], errors: [] })
  expect(await run()).toEqual(none)
})

test('tries an unreachable mail server three times per run and keeps the reminders', async () => {
  const owners = await Promise.all(Array.from({ length: 5 }, () => signUp(on)))
  for (const [index, owner] of owners.entries()) await endPremiumIn(owner, day + (index + 1) * hour)
  box.refuse = down
  for (const attempts of [3, 6]) {
    expect((await run()).errors).toHaveLength(3)
    expect(box.attempts).toBe(attempts)
    on.clock.advance(10 * minute)
  }
  box.refuse = () => undefined
  expect((await run()).to).toEqual(owners.map(({ email }) => email))
})

test('rejecting mailboxes do not delay other owners; a missing one is retried after six hours', async () => {
  const owners = await Promise.all(Array.from({ length: 6 }, () => signUp(on)))
  for (const [index, owner] of owners.entries()) await endPremiumIn(owner, (index + 1) * hour + 6 * hour)
  const [missing, ...full] = owners.slice(0, 5).map(({ email }) => email)
  const last = owners[5]?.email
  box.refuse = ({ to }) => (to === missing ? noMailbox() : to === last ? undefined : fullMailbox())
  const first = await run()
  expect([first.to, first.errors.length]).toEqual([[last], 5])
  box.refuse = () => undefined
  on.clock.advance(10 * minute)
  expect((await run()).to).toEqual(full)
  on.clock.advance(5.5 * hour)
  expect(await run()).toEqual(none)
  on.clock.advance(20 * minute)
  expect((await run()).to).toEqual([missing])
})

test('claims of a process that died are taken over after 15 minutes', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, 5 * day)
  const stuck: Mailer = { send: () => new Promise(() => {}), close: () => {} }
  void sendReminders(ctx(), stuck)
  await expect
    .poll(() => on.database.db.selectFrom('plan_reminders').select('days').execute())
    .toEqual([{ days: 7 }])
  on.clock.advance(15 * minute - 1)
  expect(await run()).toEqual(none)
  on.clock.advance(1)
  expect((await run()).to).toEqual([owner.email])
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
  const first = (await run()).to
  expect(first).toHaveLength(200)
  expect(first.slice(0, 2)).toEqual(['many204@example.com', 'many203@example.com'])
  expect((await run()).to).toHaveLength(5)
  expect(await run()).toEqual(none)
})

test('a canceled run stops after the current message', async () => {
  for (const hours of [1, 2]) await endPremiumIn(await signUp(on), hours * hour)
  const stopping = new AbortController()
  box.onMail = () => stopping.abort()
  await sendReminders(ctx(), box, { signal: stopping.signal })
  expect(box.mails).toHaveLength(1)
  expect((await run()).to).toHaveLength(1)
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

test('a server sends reminders soon after its start and shuts down cleanly', async () => {
  const owner = await signUp(on)
  await endPremiumIn(owner, day)
  const sent = new Promise<void>((resolve) => {
    box.onMail = resolve
  })
  const { config, database, clock, dataDir } = on
  const seal = createSeal(config.secretKey ?? '')
  const more = { consoleDir: dataDir, logLevel: 'silent', mailer: box, remindersAfterMs: 0 }
  const second = await buildApp({ config, database, clock, seal, ...more })
  await sent
  await second.close()
  expect(box.mails.map(({ to }) => to)).toEqual([owner.email])
  expect(await run()).toEqual(none)
})

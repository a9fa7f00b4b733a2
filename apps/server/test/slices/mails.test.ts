// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { system } from '../../src/core/actor.ts'
import { day, hour, minute, second } from '../../src/core/clock.ts'
import { type OpenDatabase, openDatabase } from '../../src/db/open.ts'
import { MailOutbox } from '../../src/modules/mail/mail.outbox.ts'
import { type QueuedMail, queueMail } from '../../src/modules/mail/mail.queue.ts'
import { createMailer, type Mail, type Mailer } from '../../src/modules/mail/mail.service.ts'
import { readMailQueue } from '../../src/modules/mail/mail.status.ts'
import { type Owner, signUp } from '../actors.ts'
import { keyward } from '../command-line.ts'
import { tidyUp } from '../fixtures.ts'
import { ctxOf, startServer, type TestServer, transactionsOn } from '../harness.ts'
import { mailedLinks, textsTo } from '../mailed.ts'
import { queuedMails } from '../queued-mails.ts'
import { SmtpSink } from '../smtp-sink.ts'

/** What the mail server does is up to the test, and can change. */
const behaviour: { reply?: (command: string) => string | undefined; isSilent?: boolean } = {}
let sink: SmtpSink
let on: TestServer
const lines: string[] = []
const cleanups: (() => Promise<void>)[] = []
beforeEach(async () => {
  behaviour.reply = () => undefined
  behaviour.isSilent = false
  lines.length = 0
  sink = await SmtpSink.start(behaviour)
  on = await startServer(
    { SMTP_URL: `smtp://${sink.host}`, PUBLIC_URL: 'http://127.0.0.1:4000' },
    {
      deliveriesEveryMs: 100,
      logLevel: 'info',
      log: { write: (line: string) => void lines.push(line) },
    },
  )
})
afterEach(async () => {
  for (const end of cleanups.splice(0).reverse()) await end()
  await on.close()
  await sink.stop()
})

const rows = () =>
  on.database.db.selectFrom('mails').selectAll().orderBy('created_at').orderBy('id').execute()
const states = async () => (await rows()).map(({ state }) => state).sort()

/** Reads a second later: the mail server may be tried again, or a mail. */
const later = <T>(read: () => Promise<T>): Promise<T> => {
  on.clock.advance(second)
  return read()
}

const queuedRows = async () => (await rows()).filter(({ state }) => state === 'queued')

const firstError = async () => (await rows())[0]?.last_error ?? ''

const hello = (to: string, more: Partial<QueuedMail> = {}): QueuedMail => ({
  to,
  subject: 'Hello',
  text: 'Good day.',
  ownerId: null,
  ...more,
})

const queue = (mails: readonly QueuedMail[]) =>
  ctxOf(on).tx(
    system,
    async (write) => {
      for (const mail of mails) await queueMail(on, write, mail)
    },
    { rows: mails.length },
  )

const requestLink = async ({ email }: Pick<Owner, 'email'>) => {
  const { status } = await on.call('POST', '/auth/forgot-password', { body: { email } })
  expect(status).toBe(200)
}

describe('a mail server', () => {
  test('that refuses for a while gets every mail later, with pauses that grow', async () => {
    behaviour.reply = (line) => (line.startsWith('MAIL') ? '451 later' : undefined)
    await queue([hello('a@example.com'), hello('b@example.com')])
    await expect.poll(async () => (await rows()).some(({ last_error }) => last_error)).toBe(true)
    const [failed] = (await rows()).filter(({ last_error }) => last_error)
    expect(failed).toMatchObject({ state: 'queued', attempts: 1 })
    expect(failed?.last_error).toBe('the mail was not sent (EENVELOPE, MAIL FROM, 451)')
    expect((failed?.due_at ?? 0) - on.clock.now()).toBeGreaterThan(11_000)
    const attempts = async () => Math.max(...(await rows()).map((row) => row.attempts))
    await expect.poll(() => later(attempts)).toBeGreaterThan(1)
    behaviour.reply = () => undefined
    await expect.poll(() => later(states)).toEqual(['sent', 'sent'])
    expect(sink.received.map(({ to }) => to[0]).sort()).toEqual(['a@example.com', 'b@example.com'])
  })

  test('that refuses one address ends this mail at once, and gets all others', async () => {
    const isRefused = (line: string) => line.startsWith('RCPT') && line.includes('gone@')
    behaviour.reply = (line) => (isRefused(line) ? '550 no such mailbox of gone@example.com' : undefined)
    await queue(['gone', 'b', 'c', 'd'].map((name) => hello(`${name}@example.com`)))
    await expect.poll(states).toEqual(['failed', 'sent', 'sent', 'sent'])
    const failed = (await rows()).find(({ state }) => state === 'failed')
    expect(failed).toMatchObject({ attempts: 1, sealed: null, due_at: null })
    expect(failed?.last_error).toBe('the mail was not sent (EENVELOPE, RCPT TO, 550)')
    expect(JSON.stringify(await rows())).not.toContain('gone@')
    expect(lines.join('')).not.toContain('gone@')
  })

  test('that hangs keeps no call waiting, and gets the mail once it answers', async () => {
    behaviour.isSilent = true
    const owner = await signUp(on)
    await requestLink(owner)
    await expect.poll(() => sink.connections).toBe(1)
    const { email, password } = owner
    const { status } = await on.call('POST', '/auth/login', {
      body: { email, password },
      from: '203.0.113.9',
      headers: { 'user-agent': 'another program' },
    })
    expect(status).toBe(200)
    behaviour.isSilent = false
    await expect.poll(() => later(states), { timeout: 60_000 }).toEqual(['sent', 'sent'])
    expect(mailedLinks(sink, email)).toHaveLength(1)
  })
})

describe('a mail with a link', () => {
  test('expires in the queue before its link does, and its content is erased', async () => {
    behaviour.reply = (line) => (line.startsWith('MAIL') ? '451 later' : undefined)
    const owner = await signUp(on)
    await requestLink(owner)
    await expect.poll(() => later(firstError)).toContain('451')
    on.clock.advance(25 * minute)
    // A try that fails at this moment pauses the mail server.
    await expect.poll(() => later(states)).toEqual(['expired'])
    const [row] = await rows()
    const link = await on.database.db.selectFrom('password_resets').selectAll().executeTakeFirstOrThrow()
    expect(link.expires_at).toBeGreaterThan(on.clock.now())
    expect(row).toMatchObject({ sealed: null, due_at: null })
    behaviour.reply = () => undefined
    await queue([hello('next@example.com')])
    await expect.poll(() => later(states)).toEqual(['expired', 'sent'])
    expect(mailedLinks(sink, owner.email)).toEqual([])
  })

  test('shows neither address nor link in its row, in the log or in errors', async () => {
    behaviour.reply = (line) => (/^(MAIL|RCPT)/.test(line) ? `451 ${line}` : undefined)
    const owner = await signUp(on)
    await requestLink(owner)
    await expect.poll(() => later(firstError)).toContain('451')
    const [mail] = await queuedMails(on)
    const token = /#(kwp_[\w-]{43})/.exec(mail?.text ?? '')?.[1] ?? ''
    expect(token).not.toBe('')
    const stored = JSON.stringify(await rows())
    for (const secret of [token, owner.email, 'Choose a new']) {
      expect(stored).not.toContain(secret)
      expect(lines.join('')).not.toContain(secret)
    }
    behaviour.reply = () => undefined
    await expect.poll(() => later(states)).toEqual(['sent'])
    expect((await rows())[0]?.sealed).toBe(null)
    expect(mailedLinks(sink, owner.email)).toHaveLength(1)
  })

  test('is erased by housekeeping once it has expired, although no mail server was reached', async () => {
    behaviour.reply = (line) => (line.startsWith('EHLO') ? '421 down' : undefined)
    await queue([hello('a@example.com', { isSecret: true, expiresAt: on.clock.now() + minute })])
    await expect.poll(async () => (await rows())[0]?.last_error).toBeTruthy()
    on.clock.advance(minute)
    await tidyUp(on)
    expect(await states()).toEqual(['expired'])
    expect((await rows())[0]?.sealed).toBe(null)
  })

  test('without a mail server is given up, and others are logged', async () => {
    const lone = await startServer({}, { log: { write: (line) => void lines.push(line) }, logLevel: 'info' })
    cleanups.push(() => lone.close())
    await ctxOf(lone).tx(system, async (write) => {
      await queueMail(lone, write, hello('a@example.com', { isSecret: true, text: 'the secret' }))
      await queueMail(lone, write, hello('b@example.com'))
    })
    const mailer = createMailer(lone.config, lone.server.log)
    const box = new MailOutbox({ ctx: ctxOf(lone), mailer, log: lone.server.log, onError: () => {} })
    cleanups.push(() => box.end())
    box.wake()
    const statesOf = async () =>
      (await lone.database.db.selectFrom('mails').select('state').orderBy('state').execute()).map(
        ({ state }) => state,
      )
    await expect.poll(statesOf).toEqual(['failed', 'sent'])
    expect(lines.join('')).toContain('b@example.com')
    expect(lines.join('')).not.toContain('the secret')
  })
})

/** A node that sends with `mailer`, over its own connections to the database. */
function startNode(mailer: Mailer, database: OpenDatabase = on.database): MailOutbox {
  const ctx = { ...ctxOf(on), db: database.db, tx: transactionsOn(database, on.clock) }
  const box = new MailOutbox({ ctx, mailer, log: on.server.log, onError: () => {}, pollMs: 20 })
  cleanups.push(() => box.end())
  box.start()
  return box
}

const recorder = (sent: Mail[]): Mailer => ({ send: async (mail) => void sent.push(mail), close: () => {} })

test('two nodes with 32 runners send each mail once', async () => {
  const { config, dataDir } = on
  const other = openDatabase({ url: config.databaseUrl, dataDir })
  cleanups.push(() => other.close())
  const sent: Mail[] = []
  for (let at = 0; at < 32; at += 1) startNode(recorder(sent), at % 2 === 0 ? on.database : other)
  const to = Array.from({ length: 120 }, (_, at) => `p${at}@example.com`)
  const owners = [await signUp(on), await signUp(on), await signUp(on)]
  await queue(to.map((one, at) => hello(one, { ownerId: owners[at % 3]?.id ?? null })))
  await expect.poll(async () => new Set(await states()), { timeout: 60_000 }).toEqual(new Set(['sent']))
  const all = [...sent.map((mail) => mail.to), ...sink.received.map((mail) => mail.to[0] ?? '')]
  expect(all.sort()).toEqual(to.sort())
})

describe('a vendor', () => {
  test('with 5,000 queued mails does not delay a link of another one', async () => {
    behaviour.reply = (line) => (line.startsWith('EHLO') ? '421 down' : undefined)
    const [many, other] = [await signUp(on), await signUp(on)]
    await queue(Array.from({ length: 5000 }, (_, at) => hello(`m${at}@example.com`, { ownerId: many.id })))
    await expect.poll(async () => (await rows()).some(({ last_error }) => last_error)).toBe(true)
    await requestLink(other)
    await expect.poll(async () => (await rows()).length).toBe(5001)
    behaviour.reply = () => undefined
    const links = async () => mailedLinks(sink, other.email).length
    await expect.poll(() => later(links)).toBe(1)
    const at = sink.received.findIndex(({ to }) => to.includes(other.email))
    expect(at).toBeLessThan(20)
  })

  test('does not delay its own links with other mails', async () => {
    behaviour.reply = (line) => (line.startsWith('EHLO') ? '421 down' : undefined)
    const owner = await signUp(on)
    await queue(Array.from({ length: 200 }, (_, at) => hello(`m${at}@example.com`, { ownerId: owner.id })))
    await requestLink(owner)
    await expect.poll(async () => (await rows()).length).toBe(201)
    behaviour.reply = () => undefined
    const links = async () => mailedLinks(sink, owner.email).length
    await expect.poll(() => later(links)).toBe(1)
    expect(sink.received.findIndex(({ to }) => to.includes(owner.email))).toBeLessThan(20)
  })
})

test('mails about a person go with its account', async () => {
  behaviour.reply = (line) => (line.startsWith('MAIL') ? '451 later' : undefined)
  const [owner, other] = [await signUp(on), await signUp(on)]
  await requestLink(owner)
  await requestLink(other)
  await expect.poll(async () => (await rows()).length).toBe(2)
  const { status } = await owner.call('DELETE', '/auth/account', { password: owner.password })
  expect(status).toBe(200)
  expect((await queuedMails(on)).map(({ to }) => to)).toEqual([other.email])
})

test('a request for a link of an unknown address leaves no mail, and its row is gone', async () => {
  const requests = () => on.database.db.selectFrom('reset_requests').selectAll().execute()
  await requestLink({ email: 'nobody@example.com' })
  await expect.poll(requests).toEqual([])
  expect(await rows()).toEqual([])
})

test('sent mails are deleted after seven days, and failed ones', async () => {
  await queue([hello('a@example.com'), hello('not an address')])
  await expect.poll(states).toEqual(['failed', 'sent'])
  on.clock.advance(7 * day - 1)
  await tidyUp(on)
  expect(await rows()).toHaveLength(2)
  on.clock.advance(1)
  await tidyUp(on)
  expect(await rows()).toEqual([])
})

describe('the operator', () => {
  const late = () => lines.filter((line) => line.includes('keyward outbox'))

  test('is warned once an hour while a mail waits for more than ten minutes', async () => {
    behaviour.reply = (line) => (line.startsWith('EHLO') ? '421 down' : undefined)
    const box = new MailOutbox({
      ...{ ctx: ctxOf(on), log: on.server.log, onError: () => {} },
      mailer: recorder([]),
    })
    await queue([hello('a@example.com')])
    await box.warnOfLate()
    on.clock.advance(10 * minute - 1)
    await box.warnOfLate()
    expect(late()).toEqual([])
    on.clock.advance(1)
    await box.warnOfLate()
    await box.warnOfLate()
    on.clock.advance(hour - 1)
    await box.warnOfLate()
    expect(late()).toHaveLength(1)
    on.clock.advance(1)
    await box.warnOfLate()
    expect(late()).toHaveLength(2)
    expect(late().join('')).not.toContain('a@example.com')
  })

  test('sees what waits, what fails and what was given up', async () => {
    behaviour.reply = (line) => (line.startsWith('MAIL') ? '451 later' : undefined)
    await queue([hello('not an address')])
    await expect.poll(states).toEqual(['failed'])
    await queue([hello('a@example.com')])
    const isFailing = async () => (await queuedRows()).every(({ last_error }) => last_error !== null)
    await expect.poll(isFailing).toBe(true)
    const now = on.clock.now()
    const state = { queue: 'mails', waiting: 1, waitingSince: now, failing: 1, failedLastDay: 1 }
    expect(await readMailQueue(on.database.db, now)).toEqual(state)
    expect(await readMailQueue(on.database.db, now + day)).toEqual({ ...state, failedLastDay: 0 })

    const shown = await keyward(on, ['outbox', '--json'])
    expect(JSON.parse(shown.stdout).queues).toContainEqual({
      ...{ queue: 'mails', waiting: 1, failing: 1, failedLastDay: 0 },
      waitingSince: new Date(now).toISOString(),
    })
    expect((await keyward(on, ['outbox'])).stdout).toMatch(
      /^mails: 1 waiting, the oldest for \d+ min, 1 failed at least once; 0 given up in the last 24 hours$/m,
    )
    expect((await keyward(on, ['outbox', 'all'])).code).toBe(1)
    expect((await keyward(on, ['backup', '--json'])).code).toBe(1)
  })
})

test('a change that fails queues no mail', async () => {
  const owner = await signUp(on)
  const { email, password } = owner
  const taken = await signUp(on)
  await owner.call('PUT', '/auth/email', { email: taken.email, password })
  expect(await rows()).toEqual([])
  await owner.call('PUT', '/auth/email', { email: `new-${email}`, password })
  await expect.poll(() => textsTo(sink, email).length).toBe(1)
})

import { afterEach, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import type { MailError } from '../src/modules/mail/mail.error.ts'
import { createMailer, type Mail, type Mailer } from '../src/modules/mail/mail.service.ts'
import { selfSigned } from './self-signed.ts'
import { SmtpSink } from './smtp-sink.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const end of cleanups.splice(0).reverse()) await end()
})

const startSink = async (behaviour: Parameters<typeof SmtpSink.start>[0] = {}) => {
  const sink = await SmtpSink.start(behaviour)
  cleanups.push(() => sink.stop())
  return sink
}

const lines: unknown[][] = []
function mailer(environment: Record<string, string>): Mailer {
  lines.length = 0
  const made = createMailer(readConfig(environment), { info: (...args: unknown[]) => lines.push(args) })
  cleanups.push(() => made.close())
  return made
}

const mail: Mail = { to: 'ada@example.com', subject: 'Hello', text: 'Good day.\n.\nBye' }
const failure = (sent: Promise<void>): Promise<MailError> =>
  sent.then(
    () => expect.unreachable('the message was sent'),
    (error) => error,
  )

/** The value of a header with its encoded words decoded. */
function header(head: string, name: string): string | undefined {
  const value = new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]
  return value
    ?.replace(/\?= =\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?(.*?)\?=/gi, (_all, kind: string, text: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString()
        : decodeURIComponent(text.replaceAll('_', ' ').replaceAll('%', '%25').replaceAll('=', '%')),
    )
}

describe('by SMTP', () => {
  test('sends a message with envelope, sender, subject and both bodies', async () => {
    const sink = await startSink()
    const by = mailer({ SMTP_URL: `smtp://${sink.host}`, MAIL_FROM: 'Die Bäckerei <shop@example.com>' })
    await by.send({ ...mail, subject: 'Ihr Zugang läuft ab: 3 €', html: '<p>Good day.</p>' })
    const [got, ...more] = sink.received
    expect(more).toEqual([])
    expect(got).toMatchObject({ from: 'shop@example.com', to: ['ada@example.com'] })
    const { head = '', body = '' } = got ?? {}
    expect(header(head, 'From')).toBe('Die Bäckerei <shop@example.com>')
    expect(header(head, 'To')).toBe('ada@example.com')
    expect(header(head, 'Subject')).toBe('Ihr Zugang läuft ab: 3 €')
    expect(header(head, 'Auto-Submitted')).toBe('auto-generated')
    expect(body).toContain('Good day.\r\n.\r\nBye')
    expect(body).toContain('<p>Good day.</p>')
    expect(lines).toEqual([])
  })

  test.each([
    [{}, 'Keyward <no-reply@localhost>'],
    [{ PUBLIC_URL: 'https://keys.example.com/keyward' }, 'Keyward <no-reply@keys.example.com>'],
    [{ PUBLIC_URL: 'http://[::1]:3000' }, 'Keyward <no-reply@localhost>'],
    [{ MAIL_FROM: 'keys@example.com' }, 'keys@example.com'],
  ])('with %j sends as %s', async (environment, from) => {
    const sink = await startSink()
    await mailer({ SMTP_URL: `smtp://${sink.host}`, ...environment }).send(mail)
    expect(header(sink.received[0]?.head ?? '', 'From')).toBe(from)
  })

  test('names one click that unsubscribes with https alone', async () => {
    const sink = await startSink()
    const by = mailer({ SMTP_URL: `smtp://${sink.host}` })
    for (const scheme of ['https', 'http'])
      await by.send({ ...mail, unsubscribe: `${scheme}://licenses.example.com/api/unsubscribe/kwu_1` })
    const named = sink.received.map(({ head }) =>
      ['List-Unsubscribe', 'List-Unsubscribe-Post'].map((name) => header(head, name)),
    )
    expect(named).toEqual([
      ['<https://licenses.example.com/api/unsubscribe/kwu_1>', 'List-Unsubscribe=One-Click'],
      ['<http://licenses.example.com/api/unsubscribe/kwu_1>', undefined],
    ])
  })

  test('reuses one connection and signs in once', async () => {
    const sink = await startSink()
    const by = mailer({ SMTP_URL: `smtp://user:p%40ss@${sink.host}` })
    for (const to of ['a@example.com', 'b@example.com']) await by.send({ ...mail, to })
    expect(sink.received.map(({ to }) => to)).toEqual([['a@example.com'], ['b@example.com']])
    expect(sink.connections).toBe(1)
    const signIns = sink.commands.filter((line) => line.startsWith('AUTH'))
    expect(signIns).toEqual([`AUTH PLAIN ${Buffer.from('\0user\0p@ss').toString('base64')}`])
  })

  test('rejects an untrusted certificate unless the operator allows it', async () => {
    const sink = await startSink({ tls: selfSigned() })
    const refused = await failure(mailer({ SMTP_URL: `smtps://u:p@${sink.host}` }).send(mail))
    expect(refused).toMatchObject({ name: 'MailError', isAboutMessage: false })
    expect(sink.commands).toEqual([])
    await mailer({ SMTP_URL: `smtps://${sink.host}?tls.rejectUnauthorized=false` }).send(mail)
    expect(sink.received).toHaveLength(1)
  })

  test('never sends a password unencrypted to another machine unless the operator allows it', async () => {
    const sink = await startSink({ reply: (line) => (line === 'STARTTLS' ? '502 no' : undefined) })
    // 0.0.0.0 reaches the sink, but the mailer does not recognize it as a loopback address.
    const url = `smtp://user:hush@${sink.host.replace('127.0.0.1', '0.0.0.0')}`
    expect((await failure(mailer({ SMTP_URL: url }).send(mail))).isAboutMessage).toBe(false)
    expect(sink.commands.filter((line) => line.startsWith('AUTH'))).toEqual([])
    await mailer({ SMTP_URL: `${url}?requireTLS=false` }).send(mail)
    expect(sink.received).toHaveLength(1)
  })
})

describe('a failed message', () => {
  const asSent = Buffer.from('\0user\0hush').toString('base64')
  const leaked = ({ message, stack, ...rest }: MailError) =>
    [message, stack, JSON.stringify(rest)].some((text) => text?.includes('hush') || text?.includes(asSent))

  test('does not reveal the password if the server is down', async () => {
    const sink = await SmtpSink.start()
    const { host } = sink
    await sink.stop()
    const error = await failure(mailer({ SMTP_URL: `smtp://user:hush@${host}` }).send(mail))
    expect(error).toMatchObject({ name: 'MailError', isAboutMessage: false, isPermanent: false })
    expect(error.message).toContain('ECONNREFUSED')
    expect(leaked(error)).toBe(false)
  })

  test('does not reveal the password if the sign-in fails, even if the server repeats it', async () => {
    const reply = (line: string) =>
      line.startsWith('AUTH') ? `535 ${line} is wrong for user:hush` : undefined
    const sink = await startSink({ reply })
    const error = await failure(mailer({ SMTP_URL: `smtp://user:hush@${sink.host}` }).send(mail))
    expect(error.message).toBe('the mail was not sent (EAUTH, AUTH PLAIN, 535)')
    expect(error.cause).toBeUndefined()
    expect(leaked(error)).toBe(false)
  })

  test.each([
    ['RCPT', '550 no such mailbox', { isAboutMessage: true, isPermanent: true }],
    ['RCPT', '452 mailbox full', { isAboutMessage: true, isPermanent: false }],
    ['RCPT', '421 going down', { isAboutMessage: false, isPermanent: false }],
    ['DATA', '554 no', { isAboutMessage: true, isPermanent: true }],
    ['MAIL', '550 unknown sender', { isAboutMessage: false, isPermanent: false }],
  ])('reports for %s answered by %s whether message or server failed', async (verb, answer, facts) => {
    const sink = await startSink({ reply: (line) => (line.startsWith(verb) ? answer : undefined) })
    expect(await failure(mailer({ SMTP_URL: `smtp://${sink.host}` }).send(mail))).toMatchObject(facts)
  })

  test('does not delay shutdown: closing fails current and later messages', async () => {
    const sink = await startSink({ isSilent: true })
    const by = mailer({ SMTP_URL: `smtp://${sink.host}` })
    const sent = failure(by.send(mail))
    await expect.poll(() => sink.connections).toBe(1)
    by.close()
    expect((await sent).name).toBe('MailError')
    expect((await failure(by.send(mail))).name).toBe('MailError')
  })
})

const injections: Partial<Mail>[] = [
  { to: 'ada@example.com\r\nBcc: eve@example.com' },
  { to: 'ada@example.com\n' },
  { to: 'ada@example.com, eve@example.com' },
  { to: 'ada@example.com> <eve@example.com' },
  { to: 'Eve <eve@example.com>' },
  { to: 'ada' },
  { to: '' },
  { subject: 'Hello\r\nBcc: eve@example.com' },
  { subject: 'Hello\u0000' },
]

describe.each(['smtp', 'log'])('with %s', (way) => {
  test.each(injections)('rejects a message with %j permanently and sends nothing', async (part) => {
    const sink = await startSink()
    const by = mailer(way === 'smtp' ? { SMTP_URL: `smtp://${sink.host}` } : {})
    expect(await failure(by.send({ ...mail, ...part }))).toMatchObject({
      name: 'MailError',
      isAboutMessage: true,
      isPermanent: true,
    })
    expect([sink.connections, lines]).toEqual([0, []])
  })
})

test('without a mail server never logs a message with a secret', async () => {
  const error = await failure(mailer({}).send({ ...mail, isSecret: true }))
  expect([error.message, lines]).toEqual(['the mail was not sent (ENOSMTP)', []])
})

test('without a mail server logs the whole message as one line', async () => {
  await mailer({}).send({ ...mail, html: '<p>Good day.</p>' })
  const { to, subject, text } = mail
  expect(lines).toEqual([[{ to, subject, text }, 'mail']])
})

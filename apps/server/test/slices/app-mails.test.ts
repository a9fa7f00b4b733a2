// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { limits } from '@keyward/contract'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { toBuyerMail } from '../../src/modules/app-mails/app-mails.rules.ts'
import { createMailer } from '../../src/modules/mail/mail.service.ts'
import { makeApp, refusal, signUp, wrongFields } from '../actors.ts'
import { ownerForAll, serverForAll } from '../fixtures.ts'
import { textsTo } from '../mailed.ts'
import { confirmAddress } from '../notified.ts'
import { queuedMails } from '../queued-mails.ts'
import { SmtpSink } from '../smtp-sink.ts'

const on = serverForAll({ SMTP_URL: 'smtp://127.0.0.1:9', PUBLIC_URL: 'http://127.0.0.1:4000' })
const owner = ownerForAll(on)

const letters = 'abcdefghijklmnopqrstuvwxyzab'

async function newApp(name = 'Atlas') {
  const someone = await signUp(on)
  const app = await makeApp(someone, name)
  const path = `/apps/${app._id}/mail`
  return {
    ...someone,
    app,
    path,
    read: async (locale = '') =>
      (await someone.call('GET', `${path}${locale && `?locale=${locale}`}`)).json.data,
    save: (body: object) => someone.call('PUT', path, { subject: 'Keys', text: 'Yours: {key}', ...body }),
  }
}

describe('the mail of an app', () => {
  test("starts with the server's, is changed for one language, and reset", async () => {
    const { read, save, call, path } = await newApp()
    const first = await read()
    expect(first).toMatchObject({ changed: false, locales: [], builtIn: ['en', 'de', 'es', 'pt', 'zh'] })
    expect(first.mail).toMatchObject({ subject: 'Your license for {app}', html: null, fromName: null })
    const german = {
      subject: 'Schlüssel',
      text: 'Hier:\r\n{key}',
      html: '<p>{key}</p>',
      fromName: 'Ada',
      replyTo: 'ada@example.com',
    }
    const saved = (await save({ ...german, locale: 'de-at' })).json.data
    expect(saved).toMatchObject({
      mail: { ...german, text: 'Hier:\n{key}' },
      changed: true,
      locales: ['de-AT'],
    })
    expect((await read('de-AT')).mail).toEqual(saved.mail)
    expect((await read()).mail).toEqual(first.mail)
    expect((await call('DELETE', `${path}?locale=de-AT`)).json.data).toMatchObject({
      changed: false,
      locales: [],
    })
    expect((await read('de-AT')).mail.subject).toBe('Ihre Lizenz für {app}')
  })

  test("comes in the buyer's language, else as the app's default", async () => {
    const { read, save } = await newApp()
    await save({ subject: 'Default', fromName: 'Ada', replyTo: 'help@example.com' })
    await save({ subject: 'Deutsch', locale: 'de' })
    const subjects = ['', 'fr', 'de', 'de-AT', 'pt-BR', 'zh-Hant-TW'].map(
      async (locale) => (await read(locale)).mail.subject,
    )
    expect(await Promise.all(subjects)).toEqual([
      ...['Default', 'Default', 'Deutsch', 'Deutsch'],
      ...['Sua licença do {app}', '您的 {app} 许可证'],
    ])
    expect((await read('es')).mail).toMatchObject({ fromName: 'Ada', replyTo: 'help@example.com' })
  })

  test.each([
    ['an unknown placeholder', { text: '{key} {license}' }, 'text', 'Unknown placeholder {license}'],
    ['one with doubled braces', { text: '{{key}}' }, 'text', 'Unknown placeholder {{key}}'],
    ['one in the subject', { subject: '{Name}' }, 'subject', 'Unknown placeholder {Name}'],
    ['one in HTML', { html: '<p>{key} {nmae}</p>' }, 'html', 'Unknown placeholder {nmae}'],
    ['a text without a key', { text: 'Hello' }, 'text', 'The text needs {key}'],
    ['HTML without a key', { html: '<p>Hello</p>' }, 'html', 'The HTML needs {key}'],
    ['a key in the subject', { subject: '{key}' }, 'subject', 'The subject cannot contain {key}'],
    ['a name inside of a tag', { html: '{key}<a title="a>b" href={name}>' }, 'html', 'Inside of a tag'],
    ['a line break in the subject', { subject: 'a\r\nBcc: eve@example.com' }, 'subject', 'not allowed'],
    ['a line break in the sender', { fromName: 'Ada\r\nBcc: eve@example.com' }, 'fromName', 'not allowed'],
    ['an address as sender name', { fromName: 'pay@example.com' }, 'fromName', 'not allowed'],
    ['a sender name that turns text around', { fromName: 'a\u202eb' }, 'fromName', 'not allowed'],
    ['two addresses for answers', { replyTo: 'a@example.com, b@example.com' }, 'replyTo', 'valid email'],
    [
      'a line break in the address for answers',
      { replyTo: 'a@example.com\r\nBcc: b@example.com' },
      'replyTo',
      'valid email',
    ],
    ['a very long text', { text: `{key}${'x'.repeat(limits.appMailTextMax)}` }, 'text', 'at most'],
    ['control characters', { text: '{key}\u0000' }, 'text', 'not allowed'],
  ])('refuses %s', async (_what, body, field, message) => {
    const { save, read } = await newApp()
    const answer = await save(body)
    expect([refusal(answer), wrongFields(answer)[0]]).toEqual(['invalid_input', field])
    expect(answer.json.errors[0].message).toContain(message)
    expect((await read()).changed).toBe(false)
  })

  test('accepts styles in braces, and a page inside of a tag', async () => {
    const { save } = await newApp()
    const html = '<style>p { color: red } b{font-weight:bold}</style><p>{key}</p><a href="{page}">Page</a>'
    expect((await save({ html })).json.data.mail.html).toBe(html)
  })

  test('is not overwritten after someone else has changed it', async () => {
    const { save, read } = await newApp()
    const { subject } = (await read()).mail
    expect((await save({ subject: 'One', seen: { subject } })).status).toBe(200)
    expect(refusal(await save({ subject: 'Two', seen: { subject } }))).toBe('app_mail_changed')
    expect((await read()).mail.subject).toBe('One')
  })

  test('has at most 30 languages, also if they are added at once', async () => {
    const { save, read, app } = await newApp()
    const { _id: app_id } = app
    const first = Array.from(
      { length: limits.messageLocalesMax - 2 },
      (_, at) => `q${letters[at % 26]}${letters[at < 26 ? 0 : 1]}`,
    )
    const rows = first.map((locale) => ({
      app_id,
      kind: 'purchase' as const,
      locale,
      subject: 'Keys',
      text: '{key}',
    }))
    await on.database.db
      .insertInto('app_mails')
      .values(rows.map((row) => ({ ...row, html: null, from_name: null, reply_to: null })))
      .execute()
    const answers = await Promise.all([...'abcdefgh'].map((letter) => save({ locale: `x${letter}z` })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect((await read()).locales).toHaveLength(limits.messageLocalesMax)
  })
})

describe('a test', () => {
  test('goes to the caller alone, once the address is confirmed', async () => {
    const one = await newApp('Atlas {key} <b>')
    await one.save({
      locale: 'de',
      subject: 'Ihr {app}',
      html: '<p>{name}: {key}</p>',
      replyTo: 'help@example.com',
    })
    const send = () => one.call('POST', `${one.path}/test`, { locale: 'de' })
    expect(refusal(await send())).toBe('email_not_confirmed')
    await confirmAddress(on, one)
    expect((await send()).status).toBe(200)
    const mails = (await queuedMails(on)).filter(({ to }) => to === one.email)
    expect(mails).toEqual([
      {
        to: one.email,
        subject: '[Test] Ihr Atlas {key} <b>',
        text: 'Dies ist ein Test. Der Schlüssel ist erfunden.\n\nYours: TEST-XXXX-XXXX-XXXX\n',
        html: '<p>Dies ist ein Test. Der Schlüssel ist erfunden.</p>\n<p>Ada Lovelace: TEST-XXXX-XXXX-XXXX</p>',
        fromName: 'Atlas {key} b',
        replyTo: 'help@example.com',
      },
    ])
  })

  test('is sent five times a day at most, by 32 calls at once', async () => {
    const one = await newApp()
    await confirmAddress(on, one)
    const calls = Array.from({ length: 32 }, () => one.call('POST', `${one.path}/test`, {}))
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(27)
    expect((await queuedMails(on)).filter(({ to }) => to === one.email)).toHaveLength(5)
  })

  test("is refused for another vendor's app like for a missing one", async () => {
    const { path } = await newApp()
    await confirmAddress(on, owner)
    expect(refusal(await owner.call('POST', `${path}/test`, {}))).toBe('not_found')
  })
})

describe('a mail to a buyer', () => {
  let sink: SmtpSink
  beforeAll(async () => {
    sink = await SmtpSink.start()
  })
  afterAll(() => sink.stop())

  const attacks = [
    'Ada\r\nBcc: eve@example.com',
    'Ada\n.\nMAIL FROM:<eve@example.com>',
    'Ada\u2028Bcc: eve@example.com\u202e',
    '<img src=x onerror=alert(1)>',
    '{key}{order}',
    'https://evil.example/refund',
    `${'Ada '.repeat(5000)}`,
    '=?utf-8?q?=0ABcc:_eve=40example.com?=',
    '\ud800\u0000',
  ]
  test("reaches a real mail server without any header, recipient or tag that a buyer's name adds", async () => {
    const mailer = createMailer(
      { smtpUrl: `smtp://${sink.host}`, mailFrom: 'Keyward <keys@vendor.example>', publicUrl: undefined },
      { info: vi.fn() },
    )
    const mail = {
      subject: 'For {name}: {app} {order}',
      text: 'Hello {name},\n{key}\n{order}',
      ...{ html: '<p>Hello {name},</p>{key} {order}', fromName: null, replyTo: 'help@vendor.example' },
    }
    const face = { name: null, support: null, shop: null, logo: null }
    for (const attack of attacks) {
      const values = { keys: ['K-1', 'K-2'], name: attack, app: attack, order: attack, page: null }
      await mailer.send(toBuyerMail({ to: 'buyer@example.com', mail, values, face }))
    }
    mailer.close()
    expect(sink.received.map(({ from, to }) => [from, to])).toEqual(
      attacks.map(() => ['keys@vendor.example', ['buyer@example.com']]),
    )
    for (const { head } of sink.received) {
      const names = head.split('\r\n').map((line) => line.split(':')[0])
      const usual = [
        'From',
        'To',
        'Reply-To',
        'Subject',
        'Auto-Submitted',
        'Message-ID',
        'Date',
        'MIME-Version',
        'Content-Type',
      ]
      expect(names.toSorted()).toEqual(usual.toSorted())
      expect(head).toContain('Reply-To: help@vendor.example')
      expect(head).toMatch(/^From: (.* )?<?keys@vendor\.example>?$/m)
    }
    for (const text of textsTo(sink, 'buyer@example.com')) {
      expect(text).toContain('K-1<br>K-2')
      expect(text.split('text/html')[1]).not.toContain('<img')
      expect(text).not.toMatch(/Hello (\{|https|Ada Ada Ada)/)
    }
  })
})

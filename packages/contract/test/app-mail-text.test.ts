import { describe, expect, test } from 'vitest'
import { type MailTemplate, type MailValues, renderMail, toPersonName } from '../src/index.ts'

const values: MailValues = { keys: ['A-1'], app: 'Atlas', name: 'Ada', order: '7', page: null }
const template: MailTemplate = { subject: '{app}', text: 'Hello {name},\n\n{key}', html: null }
const render = (part: Partial<MailTemplate>, more: Partial<MailValues> = {}) =>
  renderMail({ ...template, ...part }, { ...values, ...more })

describe('a mail', () => {
  test('names each key in a line of its own', () => {
    const { text, html } = render(
      { text: 'Keys:\n{key}\nBye', html: '<p>{key}</p>' },
      { keys: ['A-1', 'A-2'] },
    )
    expect([text, html]).toEqual(['Keys:\nA-1\nA-2\nBye', '<p>A-1<br>A-2</p>'])
  })

  test('replaces each placeholder once, and escapes all values in HTML', () => {
    const app = '{key} <b>"\'&'
    const { text, html } = render({ text: '{app}: {key}', html: '<p title="x">{app}</p>{key}' }, { app })
    expect(text).toBe('{key} <b>"\'&: A-1')
    expect(html).toBe('<p title="x">{key} &lt;b&gt;&quot;&#39;&amp;</p>A-1')
  })

  test('leaves out lines about a page that does not exist', () => {
    const text = 'Keys: {key}\n\nPage: {page}\n\nBye'
    expect(render({ text }).text).toBe('Keys: A-1\n\nBye')
    expect(render({ text }, { page: 'https://k.example/u/x' }).text).toContain('Page: https://k.example/u/x')
    expect(render({ html: '<p>{key}<a href="{page}">Page</a></p>' }).html).toContain('A-1')
  })

  test('has a subject of one line and 300 characters at most', () => {
    const { subject } = render(
      { subject: '{order}'.repeat(28) },
      { order: `1\r\nBcc: eve@example.com${'x'.repeat(500)}` },
    )
    expect(subject).toMatch(/^1 Bcc: /)
    expect(subject.length).toBe(300)
  })

  test('greets without a name where there is none', () =>
    expect(render({}, { name: null }).text).toBe('Hello,\n\nA-1'))
})

test('repeats a name only if it cannot be a link', () => {
  const names = [
    'Ada Lovelace',
    'José Ñandú',
    '李小龍',
    "Conan O'Brien",
    'J. R. R. Tolkien',
    'ジョン・スミス',
    'Ltd. & Sons',
    'Ivo 3rd',
  ]
  expect(names.map(toPersonName)).toEqual(names)
  const links = [
    ...[
      'https://evil.example',
      'Visit evil.example',
      'evil．example now',
      'evil。example',
      'www evil',
      'a@evil',
      'x:y',
    ],
    ...[
      '<b>Ada</b>',
      '{key}',
      'Call 0800 123 456',
      'x'.repeat(61),
      '\u202e',
      '',
      ' \r\n ',
      'evil.\u200bexample/x',
    ],
  ]
  expect(links.map(toPersonName)).toEqual(links.map(() => undefined))
  expect(toPersonName('Ada\r\nBcc\u202e\u0000 Eve\u2028')).toBe('Ada Bcc Eve')
})

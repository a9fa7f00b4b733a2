import { expect, test } from 'vitest'
import { normalizeName } from './ids.ts'
import { prepareUsername, wrongUsername } from './username.ts'

const isAllowed = (name: string) => wrongUsername(prepareUsername(name)) === undefined

test.each([
  'juliet@example.com',
  'fussball',
  'fußball',
  'π',
  'Σ',
  'foo bar',
  'Ada Lovelace 2',
  'O’Brien'.replace('’', "'"),
  'a_b-c.d+e',
  'Åse',
  'ゆうた',
  '田中・太郎',
  'ｱﾘｽ',
  'ＡＬＩＣＥ',
  'محمد',
  'محمد5',
  'דוד',
  'नमस्ते',
  'क्\u200dष',
  'Вася_pro',
  'l·l',
])('allows the username %j', (name) => {
  expect(isAllowed(name)).toBe(true)
  const prepared = prepareUsername(name)
  expect(normalizeName(prepared)).toBe(prepared.toLowerCase().normalize('NFC'))
})

test.each([
  ['two spaces', 'foo  bar'],
  ['another space', 'foo\u00a0bar'],
  ['an ideographic space beside another', 'foo \u3000bar'],
  ['a control character', 'foo\u0007bar'],
  ['a line end', 'foo\nbar'],
  ['an invisible character', 'ad\u200bmin'],
  ['a joiner without a virama', 'ad\u200dmin'],
  ['a soft hyphen', 'ad\u00admin'],
  ['a direction override', '\u202enimda'],
  ['a tag character', 'admin\u{e0061}'],
  ['a variation selector', 'admin\ufe0f'],
  ['a Hangul filler', 'admin\u3164'],
  ['a ligature', 'ﬁeld'],
  ['a Roman numeral', 'henry Ⅳ'],
  ['a mathematical letter', '𝐚dmin'],
  ['an expanding ligature', '\ufdfa'],
  ['a chess piece', '♚'],
  ['an emoji', 'fox🦊'],
  ['a currency sign', 'ca€h'],
  ['typographic quotes', '“admin”'],
  ['a private character', 'a\ue000'],
  ['an unassigned character', 'a\u0378'],
  ['a lone surrogate', 'a\ud800'],
  ['mixed directions', 'adminמ'],
  ['mixed digits', 'م1\u0661'],
  ['two kinds of Arabic digits', 'م\u0661\u06f1'],
  ['a middle dot without l', 'a·b'],
  ['nothing', ''],
])('rejects a username with %s', (_what, name) => {
  expect(isAllowed(name)).toBe(false)
})

test('long names of expanding and of nested characters are judged quickly', () => {
  const start = process.cpuUsage().user
  for (const name of ['\ufdfa'.repeat(64), 'm'.repeat(64), 'é'.repeat(64), '\u0301'.repeat(64)]) {
    wrongUsername(prepareUsername(name))
  }
  expect(process.cpuUsage().user - start).toBeLessThan(1_000_000)
})

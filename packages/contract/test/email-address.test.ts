import { expect, test } from 'vitest'
import { isEmailAddress, toAsciiDomain } from '../src/email-address.ts'
import { email } from '../src/shared.ts'

test('accepts addresses that mail can reach, in any script, and nothing else', () => {
  const good = [
    ...['a@b.de', "o'neil+shop@sub.example.com", '#!$%&*/=?^_`{|}~@example.com', 'a@xn--p1ai.xn--p1ai'],
    ...['jürgen@example.com', 'kasse@münchen.de', '用户@例子.广告', 'δοκιμή@παράδειγμα.δοκιμή'],
  ]
  const bad = [
    ...[
      '',
      'a',
      '@b.de',
      'a@',
      'a@b',
      'a@localhost',
      'a@b..de',
      '.a@b.de',
      'a.@b.de',
      'a..b@b.de',
      'a b@c.de',
    ],
    ...[
      'a@b@c.de',
      'a@-b.de',
      'a@b-.de',
      'a@1.2.3.4',
      'a@[1.2.3.4]',
      'a@b.0x7f',
      'a@b%2ede',
      'a@b.de/x',
      'a@b.de?x',
    ],
    ...[
      'a,b@c.de',
      'a;b@c.de',
      '<a@b.de>',
      '"a"@b.de',
      'a\u0000@b.de',
      'a@b\u202e.de',
      'a\ud800@b.de',
      'a@b。de',
    ],
    ...[`a@${'b'.repeat(64)}.de`, `${'a'.repeat(250)}@b.de`, `a@${'ü'.repeat(63)}.de`],
  ]
  expect(good.filter((one) => !email.safeParse(one).success)).toEqual([])
  expect(bad.filter((one) => email.safeParse(one).success)).toEqual([])
  expect(bad.filter((one) => one.length <= 254 && isEmailAddress(one))).toEqual([])
})

test('keeps an address as it was typed, but for spaces, look-alikes and the case of a foreign domain', () => {
  const parse = (typed: string) => email.parse(typed)
  expect(parse(' Ada@Example.COM ')).toBe('Ada@Example.COM')
  expect(parse('Jürgen@MÜNCHEN.de')).toBe('Jürgen@münchen.de')
  // The Kelvin sign, and full-width letters.
  expect(parse('mi\u212ae@ｅxample.com')).toBe('miKe@example.com')
})

test('compares domains in ASCII', () => {
  expect(
    ['münchen.de', 'MÜNCHEN.de', 'xn--MNCHEN-3ya.de', 'straße.de', 'a/ü.de', 'example.com'].map(
      toAsciiDomain,
    ),
  ).toEqual([
    ...[
      'xn--mnchen-3ya.de',
      'xn--mnchen-3ya.de',
      'xn--mnchen-3ya.de',
      'xn--strae-oqa.de',
      undefined,
      'example.com',
    ],
  ])
})

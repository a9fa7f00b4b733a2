import { expect, test } from 'vitest'
import { compareHash, comparisonsOf } from './compare-hash.ts'
import { costOf, formsOfPassword, isImportedHash } from './imported-hashes.ts'

const hash = '$2y$10$PMVE3L.XXdURnV8LirvwY.3adQybhxo9Jb77uH8n5OzEJq6y1QCRS'

test.each([
  ['abc<def123!', 'abc'],
  ['1<2>3', '13'],
  ['a<3 b', 'a'],
  ['<b>x</b>', 'x'],
  ['x<!-- y', 'x'],
  ['x<!-- > -->y', 'xy'],
  ['a<b "c>d">e', 'ae'],
  ['a<b<c>d>e', 'ae'],
  ['a<b title=">">c', 'ac'],
  ['abc<', 'abc'],
  [' secret\n', 'secret'],
])('strips what PHP servers stripped: %j', (typed, stripped) => {
  expect(formsOfPassword(typed)).toEqual([typed, stripped])
})

test('leaves other passwords as they are, and compares none with a NUL inside as typed', () => {
  expect(formsOfPassword('a < b')).toEqual(['a < b'])
  expect(formsOfPassword('ring-bearer-1')).toEqual(['ring-bearer-1'])
  expect(formsOfPassword('ab\0')).toEqual(['ab'])
  expect(formsOfPassword('<b>')).toEqual(['<b>'])
})

test.each(['$2a$', '$2b$', '$2y$'])('compares %s hashes with what was typed', (prefix) => {
  const stored = hash.replace('$2y$', prefix)
  expect(compareHash(stored, 'ring-bearer-1')).toBe(true)
  expect(compareHash(stored, ' ring-bearer-1\n')).toBe(true)
  expect(compareHash(stored, 'ring-bearer-1<b>')).toBe(true)
  expect(compareHash(stored, 'ring-bearer-2')).toBe(false)
  expect(compareHash(stored, 'ring-bearer-1\0x')).toBe(false)
})

test('takes no hash that would keep the server busy, and nothing else that looks like one', () => {
  expect(isImportedHash(hash)).toBe(true)
  expect(isImportedHash(hash.replace('$10$', '$12$'))).toBe(true)
  for (const wrong of [hash.replace('$10$', '$13$'), hash.replace('$10$', '$31$'), `${hash}x`, hash.slice(1)])
    expect(isImportedHash(wrong)).toBe(false)
})

test.each(['swordfish', 'swordfish ', 'sword<fish>', '\0'])(
  '%j costs the same with any stored hash where it must',
  (typed) => {
    const decoy = '$argon2id$decoy'
    const workOf = (stored: string) => {
      const compared = comparisonsOf(stored, typed, { cost: 12, decoy })
      const bcrypt = compared.filter(({ hash }) => isImportedHash(hash)).map(({ hash }) => 2 ** costOf(hash))
      return { bcrypt: bcrypt.reduce((sum, one) => sum + one, 0), own: compared.length - bcrypt.length }
    }
    const imported = [4, 8, 10, 12].map((cost) => `$2y$${String(cost).padStart(2, '0')}$${'a'.repeat(53)}`)
    for (const stored of imported) expect(workOf(stored)).toEqual(workOf('$argon2id$own'))
    expect(workOf('$argon2id$own')).toEqual({ bcrypt: 4096 * formsOfPassword(typed).length, own: 1 })
  },
)

import { expect, test } from 'vitest'
import { countValues, differences, judge, toLine } from './compare.ts'
import { changedRows, expectedOf } from './expected.ts'

const license = { _id: 'lic_1', note: 'sold', ends: null, features: ['a', 'b'], user: { name: 'Ada' } }
const changed = (changes: object) => differences(license, { ...license, ...changes }).map(toLine)

test('equal values, and fields that an upgrade adds, are no difference', () => {
  expect(changed({})).toEqual([])
  expect(changed({ customer: null, user: { name: 'Ada', email: 'a@b.c' } })).toEqual([])
})

test('a changed, removed, emptied or moved value is one, wherever it is', () => {
  expect(changed({ note: 'Sold' })).toEqual(['note: "sold" became "Sold"'])
  expect(changed({ note: undefined })).toEqual(['note: "sold" became nothing'])
  expect(changed({ ends: 0 })).toEqual(['ends: null became 0'])
  expect(changed({ user: null })).toEqual(['user: {"name":"Ada"} became null'])
  expect(changed({ user: [] })).toEqual(['user: {"name":"Ada"} became []'])
  expect(changed({ user: { name: 'Bea' } })).toEqual(['user/name: "Ada" became "Bea"'])
})

test('a list keeps its elements, their order and their number', () => {
  expect(changed({ features: ['b', 'a'] })).toEqual([
    'features/0: "a" became "b"',
    'features/1: "b" became "a"',
  ])
  expect(changed({ features: ['a'] })).toEqual([
    'features/length: 2 became 1',
    'features/1: "b" became nothing',
  ])
  expect(changed({ features: ['a', 'b', 'c'] })).toEqual(['features/length: 2 became 3'])
})

test('only what is named with a reason may differ', () => {
  const found = differences({ version: '1.0.0', a: 1, b: 2 }, { version: '1.1.0', a: 1, b: 3 })
  const { unexpected, met } = judge(found, [{ at: /^version$/, why: 'another version' }])
  expect(unexpected.map(toLine)).toEqual(['b: 2 became 3'])
  expect([...met]).toEqual([['another version', 1]])
})

test('a long value is shortened in the report', () => {
  expect(toLine({ at: 'a', before: 'x'.repeat(1000), after: 1 })).toHaveLength(3 + 161 + ' became 1'.length)
})

test('values are counted through lists and objects', () => {
  expect(countValues({ a: [1, 2, { b: null }], c: 'd', e: {} })).toBe(4)
})

test('a migration excuses differences only of states from before it', () => {
  const found = differences(
    { owners: { rows: { own_1: { email: 'a@b.c' } } } },
    { owners: { rows: { own_1: {} } } },
  )
  const judged = (migrations: string[]) =>
    judge(found, expectedOf({ migrations }, changedRows)).unexpected.length
  expect(judged(['0001-foundation'])).toBe(0)
  expect(judged(['0001-foundation', '0040-accounts'])).toBe(1)
})

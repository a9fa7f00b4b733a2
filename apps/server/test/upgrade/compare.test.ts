import { expect, test } from 'vitest'
import { held } from '../../src/db/stored-end.ts'
import { withAccess } from './access.ts'
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

test('ends and rights are compared as what they mean, before and since grants', () => {
  const table = (rows: Record<string, object>) => ({ count: Object.keys(rows).length, rows }) as never
  const pro = { devices: 2, seats: null, seat_timeout_seconds: 0, until: null, graceDays: 0 }
  const before = withAccess({
    clients: table({
      usr_1: {
        license_id: 'lic_1',
        expires_at: 90,
        paused_at: 60,
        added_features: '["pro"]',
        added_devices: 2,
        added_seats: null,
      },
    }),
    licenses: table({
      lic_1: { id: 'lic_1', expires_at: 90 },
      lic_2: { id: 'lic_2', added_ms: 30, taken_ms: 10 },
    }),
  })
  const since = (left_ms: number, features: string, kept_ms: number) => {
    const key = { kind: 'time', source_kind: 'key', source_id: 'lic_2', license_id: 'lic_1', moved_ms: 30 }
    return withAccess({
      clients: table({
        usr_1: {
          license_id: 'lic_1',
          expires_at: held,
          paused_at: 60,
          left_ms,
          added_rights: JSON.stringify([{ ...pro, features }]),
        },
      }),
      licenses: table({ lic_1: { id: 'lic_1', expires_at: held }, lic_2: { id: 'lic_2' } }),
      grants: table({ gra_1: { ...key, kept_ms, withdrawn_at: 70 } }),
    })
  }
  expect(differences(before, since(30, '["pro"]', 20))).toEqual([])
  expect(differences(before, since(29, '["all"]', 19)).map(toLine)).toEqual([
    'clients/rows/usr_1/left_ms: 30 became 29',
    'clients/rows/usr_1/rights/0/features/0: "pro" became "all"',
    'licenses/rows/lic_2/added/kept: 20 became 19',
  ])
})

import { limits } from '@keyward/contract'
import { expect, test } from 'vitest'
import { day, lastInstant } from '../../core/clock.ts'
import { type AddedRights, type Rights, rightsOf, toAddedRights, updatesUntil } from './terms.rules.ts'

const now = 1_000 * day
const addedFor = (days: number | null, allowed: Rights, graceDays = 0): AddedRights => ({
  ...{ license: 'lic_1', grant: 'gra_1', until: days === null ? null : now + days * day, graceDays },
  ...allowed,
})

const rights = (devices: number, seats: number | null = null, features: string[] = []): Rights => ({
  devices,
  seats,
  seat_timeout_seconds: 600,
  features: JSON.stringify(features),
})
const together = (first: Rights | null, ...added: Rights[]) => {
  const rows = added.map((one) => addedFor(null, one))
  const client = { added_rights: toAddedRights(rows, now), paused_at: null }
  const { devices, seats, features } = rightsOf(first, client, now) ?? {}
  return [devices, seats, features === undefined ? undefined : JSON.parse(features)]
}

test.each<[what: string, first: Rights | null, added: Rights[], expected: unknown[]]>([
  ['the first license alone', rights(2, null, ['a']), [], [2, null, ['a']]],
  [
    'the features of all keys, each once',
    rights(1, null, ['a']),
    [rights(1, null, ['b', 'a'])],
    [1, null, ['a', 'b']],
  ],
  ['the largest number of devices, not the sum', rights(2), [rights(3), rights(1)], [3, null, []]],
  ['any number of devices', rights(1000), [rights(-1)], [-1, null, []]],
  ['the largest number of seats', rights(1, 2), [rights(1, 5), rights(1, 3)], [1, 5, []]],
  ['seats that are more than the devices', rights(1), [rights(1, 5)], [1, 5, []]],
  ['devices that are more than the seats', rights(1, 5), [rights(9)], [9, null, []]],
  ['what the first license is sold for if the numbers are equal', rights(1), [rights(1, 1)], [1, null, []]],
  ['any number of devices before seats', rights(-1), [rights(1, 10_000)], [-1, null, []]],
  ['the added keys without a first license, but no seats', null, [rights(2, null, ['a'])], [2, null, ['a']]],
  ['nothing without a key', null, [], [undefined, undefined, undefined]],
])('%s', (_what, first, added, expected) => {
  expect(together(first, ...added)).toEqual(expected)
})

test('features are bounded', () => {
  const keys = Array.from({ length: 9 }, (_, key) =>
    rights(
      1,
      null,
      Array.from({ length: limits.featuresMax }, (_, at) => `f${key}-${at}`),
    ),
  )
  expect(together(rights(1), ...keys)[2]).toHaveLength(limits.endUserFeaturesMax)
  expect(toAddedRights([], now)).toBeNull()
})

test('rights of an added key end with its time and its grace days, unless a pause holds them', () => {
  const added_rights = toAddedRights([addedFor(1, rights(3, null, ['cloud']), 2)], now)
  const featuresAt = (days: number, paused_at: number | null = null) =>
    JSON.parse(rightsOf(rights(1), { added_rights, paused_at }, now + days * day)?.features ?? '')
  expect([2.9, 3].map((days) => featuresAt(days))).toEqual([['cloud'], []])
  expect(featuresAt(90, now + day)).toEqual(['cloud'])
})

test('keys that allow the same are stored as the one that ends last, and ended ones not at all', () => {
  const monthly = rights(2, null, ['export'])
  const stored = toAddedRights(
    [addedFor(1, monthly), addedFor(40, monthly), addedFor(9, monthly), addedFor(-1, rights(9))],
    now,
  )
  expect(JSON.parse(stored ?? '')).toMatchObject([{ until: now + 40 * day, devices: 2 }])
  expect(JSON.parse(toAddedRights([addedFor(1, monthly), addedFor(null, monthly)], now) ?? '')).toHaveLength(
    1,
  )
})

const license = {
  term: 'date',
  started_at: null,
  created_at: 5 * day,
  updates_for_days: 30,
  updates_until: null,
} as const

test.each([
  ['no license', undefined, null],
  ['all updates', { ...license, updates_for_days: null }, null],
  ['a date counts from creation', license, 35 * day],
  ['no end counts from creation', { ...license, term: 'forever' as const }, 35 * day],
  ['a first use that has not happened', { ...license, term: 'first_use' as const }, null],
  ['a first use', { ...license, term: 'first_use' as const, started_at: 9 * day }, 39 * day],
  ['the year 9999', { ...license, created_at: lastInstant - day }, lastInstant],
])('%s', (_what, row, expected) => {
  expect(updatesUntil(row)).toBe(expected)
})

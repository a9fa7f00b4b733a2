import { expect, test } from 'vitest'
import { formatMoment } from '../../lib/format/dates.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { fieldName, nameOf, toRows } from './detail.ts'

const time = Date.parse('2026-03-04T10:20:30Z')

test('a change shows the fields that differ, before and after, in words', () => {
  const before = { name: 'Atlas', paused: false, devices: 1, note: null, features: ['a', 'b'] }
  const after = { name: 'Atlas', paused: true, devices: 1200, note: 'VIP', features: [] }
  expect(toRows({ before, after, applyTo: 'all' })).toEqual([
    { field: 'Apply to', before: undefined, after: 'all' },
    { field: 'Paused', before: 'no', after: 'yes' },
    { field: 'Devices', before: '1', after: '1,200' },
    { field: 'Note', before: 'none', after: 'VIP' },
    { field: 'Features', before: 'a, b', after: 'none' },
  ])
})

test('times are dates, null is none, and numbers that are no times stay numbers', () => {
  expect(toRows({ before: null, after: time })).toEqual([
    { field: 'Value', before: 'none', after: formatMoment(time) },
  ])
  expect(toRows({ before: 3, after: 4 })).toEqual([{ field: 'Value', before: '3', after: '4' }])
  expect(toRows({ expiresAt: time, count: time })).toEqual([
    { field: 'Expires at', before: undefined, after: formatMoment(time) },
    { field: 'Count', before: undefined, after: formatNumber(time) },
  ])
})

test('a new object has nothing before, and long parts say that they are not kept', () => {
  expect(toRows({ before: null, after: { percent: 10 } })).toEqual([
    { field: 'Percent', before: 'none', after: '10' },
  ])
  const shortened = { count: 200, digest: 'abc' }
  expect(toRows({ ids: shortened })[0]?.after).toBe('200 entries or characters, too long to keep')
  expect(toRows({ before: shortened, after: shortened })).toHaveLength(1)
  expect(toRows({})).toEqual([])
})

test('fields have names that people say', () => {
  expect(['endUserId', 'graceDays', 'secondFactor', 'hwid'].map(fieldName)).toEqual([
    'User',
    'Grace days',
    'Second factor',
    'HWID',
  ])
})

test('a key is no name of an end user, but that of a license', () => {
  const name = 'ABCDE-FGHJK-MNPQR-STVWX-YZ012'
  expect(nameOf({ _id: 'usr_1', name })).toBe('ABCDE-FGHJK-MNPQ…')
  expect(nameOf({ _id: 'lic_1', name })).toBe(name)
  expect(nameOf({ _id: 'usr_1', name: null })).toBe('usr_1')
})

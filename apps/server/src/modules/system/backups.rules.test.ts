import { expect, test } from 'vitest'
import { day, hour, minute } from '../../core/clock.ts'
import { isDue, isLate, newestBackup } from './backups.rules.ts'

const now = Date.UTC(2027, 0, 31, 8, 30)
const none = { madeAt: undefined, failedAt: undefined, now, everyMs: day }

test('a backup is due when there is none, when the last one is old enough, or when its time is ahead', () => {
  expect(isDue(none)).toBe(true)
  for (const [ago, due] of [
    [0, false],
    [day - 1, false],
    [day, true],
    [-minute, false],
    [-minute - 1, true],
    [-400 * day, true],
  ] as const)
    expect([ago, isDue({ ...none, madeAt: now - ago })]).toEqual([ago, due])
})

test('a failed backup is repeated after an hour, also if the clock was wrong', () => {
  for (const [ago, due] of [
    [minute, false],
    [hour, true],
    [-day, true],
  ] as const)
    expect([ago, isDue({ ...none, failedAt: now - ago })]).toEqual([ago, due])
})

test('a backup is late after twice the time', () => {
  expect(isLate(now - 2 * day, day, now)).toBe(false)
  expect(isLate(now - 2 * day - 1, day, now)).toBe(true)
})

test('the newest backup is found by the time in its name, and none of a later time', () => {
  const names = [
    'keyward-2027-01-30T08-30-00-000Z.tar',
    'keyward-scheduled-0123abcd-000007-2027-01-31T08-00-00-000Z.tar',
    'keyward-scheduled-0123abcd-000008-2028-03-04T08-00-00-000Z.tar',
    'keyward-scheduled-0123abcd-000009-2027-01-31T08-15-00-000Z.tar.part',
    'before-migration-2027-01-31T08-20-00-000Z.db',
  ]
  expect(newestBackup(names, now)).toBe(now - hour / 2)
  expect(newestBackup(names.slice(2), now)).toBeUndefined()
})

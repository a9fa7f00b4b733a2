import { expect, test } from 'vitest'
import { extendedText, toExtension } from './extension.ts'

test('sends time that is added with the time zone that counts it, and another end with what it may shorten', () => {
  const added = { value: 1, unit: 'months' } as const
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  const end = new Date('2027-03-01T22:59:59.999Z')
  expect(toExtension({ added, end, shorten: false })).toEqual({ duration: added, timeZone })
  expect(toExtension({ added: undefined, end, shorten: true })).toEqual({
    expiresAt: '2027-03-01T22:59:59.999Z',
    shorten: true,
  })
  expect(toExtension({ added: undefined, end: null, shorten: false })).toEqual({
    expiresAt: null,
    shorten: false,
  })
})

test('says what many rows got', () => {
  const duration = { value: 2, unit: 'days' } as const
  expect(extendedText(1, 'license', { duration, timeZone: 'UTC' })).toBe('1 license got 2 more days.')
  expect(extendedText(3, 'license', { expiresAt: null, shorten: false })).toBe('3 licenses never expire.')
  expect(extendedText(1, 'end user', { expiresAt: '2027-03-01T12:00:00Z', shorten: false })).toBe(
    '1 end user expires on Mar 01, 2027.',
  )
})

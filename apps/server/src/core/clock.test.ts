import { expect, test } from 'vitest'
import { day, dayNumber, lastInstant, second, toEpochMs, toIso } from './clock.ts'

test.each([
  ['2030-02-28', '2030-02-28T23:59:59.999Z'],
  ['2028-02-29', '2028-02-29T23:59:59.999Z'],
  ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000Z'],
  ['2030-01-01T01:00:00+02:00', '2029-12-31T23:00:00.000Z'],
  ['2030-01-01T01:00:00.123-05:30', '2030-01-01T06:30:00.123Z'],
])('parses %s as %s', (text, meant) => {
  expect(toIso(toEpochMs(text))).toBe(meant)
})

test('days change at midnight UTC', () => {
  const midnight = Date.parse('2030-01-02T00:00:00Z')
  expect(dayNumber(midnight) - dayNumber(midnight - 1)).toBe(1)
  expect(dayNumber(midnight + 86_399_999)).toBe(dayNumber(midnight))
})

test.each([
  0,
  1,
  second - 1,
  day - 1,
  day,
  Date.parse('2024-02-29T23:59:59.999Z'),
  Date.parse('2000-12-31T00:00:00.001Z'),
  lastInstant,
  lastInstant + 1,
  -1,
  1.5,
])('writes %d like Date', (epochMs) => {
  expect(toIso(epochMs)).toBe(new Date(epochMs).toISOString())
})

test('writes random times like Date', () => {
  for (let count = 0; count < 20_000; count += 1) {
    const epochMs = Math.floor(Math.random() * lastInstant)
    expect(toIso(epochMs)).toBe(new Date(epochMs).toISOString())
  }
})

test('rejects text that is not a time', () => {
  expect(() => toIso(Number.NaN)).toThrow(RangeError)
})

import { expect, test } from 'vitest'
import { typedNumber } from './typed-number.ts'

test('many rows are deleted after typing their number: from 25 on, or as soon as one is in use', () => {
  const cases: [rows: number, inUse: number, typed: string | undefined][] = [
    [1, 0, undefined],
    [1, 1, undefined],
    [2, 0, undefined],
    [2, 1, '2'],
    [24, 0, undefined],
    [24, 24, '24'],
    [25, 0, '25'],
    [3292, 1210, '3292'],
  ]
  expect(cases.map(([rows, inUse]) => typedNumber(rows, inUse))).toEqual(cases.map(([, , typed]) => typed))
})

import { expect, test } from 'vitest'
import { endOfFile } from './file.ts'

const fileOf = (exp: number | null) => {
  const bytes = new TextEncoder().encode(JSON.stringify({ username: 'Zoë ÿÿÿ???>>>', exp }))
  const claims = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
  return `e30.${claims}.AA\ne30.${claims}.BB\n`
}

test.each([
  [1_800_000_000, '2027-01-15T08:00:00.000Z'],
  [null, null],
])('reads the end %j of a file', (exp, end) => {
  expect(endOfFile(fileOf(exp))).toBe(end)
})

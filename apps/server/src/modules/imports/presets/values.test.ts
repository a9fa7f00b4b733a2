import { expect, test } from 'vitest'
import { textOf } from './values.ts'

test('removes white space and zero characters at both ends', () => {
  expect(textOf(' \0\t\u00a0frodo baggins\0\n ')).toBe('frodo baggins')
  expect(textOf(' \0 ')).toBeUndefined()
})

test('reads a field that is almost all white space at once', () => {
  const text = `a${' '.repeat(99_000)}b`
  const begun = performance.now()
  expect(textOf(text)).toBe(text)
  expect(performance.now() - begun).toBeLessThan(1000)
})

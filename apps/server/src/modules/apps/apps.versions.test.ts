import { expect, test } from 'vitest'
import { isOlder } from './apps.versions.ts'

test.each([
  ['1.0.0', '1.0.0', false],
  ['1.0.0', '1.0.1', true],
  ['1.0.9', '1.0.10', true],
  ['1.2.0', '1.1.9', false],
  ['10.0.0', '9.9.9', false],
  ['0.9.9', '1.0.0', true],
  ['1.0', '1.0.0', true],
  ['v1.0.0', '1.0.0', true],
  ['', '1.0.0', true],
])('version %j is older than %j: %s', (mine, newest, expected) => {
  expect(isOlder(mine, newest)).toBe(expected)
})

import { expect, test } from 'vitest'
import { toReference } from './references.ts'

test.each([
  ['P2J09YBXD1', 'P2J09YBXD1'],
  ['p2j0-9ybx d1', 'P2J09YBXD1'],
  ['YDFJGFQRGM', 'YDFJGFQRGM'],
])('finds the reference in %j', (text, reference) => {
  expect(toReference(text)).toBe(reference)
})

test.each(['management', 'P2J09YBXD', 'P2J09YBXD11', 'P2J09YBX?1'])('%j is no reference', (text) => {
  expect(toReference(text)).toBeUndefined()
})

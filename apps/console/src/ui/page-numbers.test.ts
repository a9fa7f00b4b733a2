import { expect, test } from 'vitest'
import { pageNumbers } from './page-numbers.ts'

test.each([
  [1, 2, [1, 2]],
  [1, 5, [1, 2, 'gap', 5]],
  [3, 5, [1, 2, 3, 4, 5]],
  [4, 7, [1, 2, 3, 4, 5, 6, 7]],
  [5, 9, [1, 'gap', 4, 5, 6, 'gap', 9]],
  [400, 400, [1, 'gap', 399, 400]],
  [9, 2, [1, 2]],
])('page %i of %i links to the first, the neighbors and the last', (page, pages, expected) => {
  expect(pageNumbers(page, pages)).toEqual(expected)
})

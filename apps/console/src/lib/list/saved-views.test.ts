import { expect, test } from 'vitest'
import { toViewQuery } from './saved-views.ts'

test('a view keeps filters and order, but no page and no open dialog', () => {
  expect(toViewQuery('?page=3&sort=oldest&dialog=generate&status=active&app=app_1')).toBe(
    'app=app_1&status=active&sort=oldest',
  )
})

test('the same filters are the same view, in whatever sequence they were chosen', () => {
  expect(toViewQuery('?search=a%20b&status=unused')).toBe(toViewQuery('?status=unused&search=a+b'))
  expect(toViewQuery('?page=2')).toBe('')
})

import { endpoints } from '@keyward/contract'
import { expect, test } from 'vitest'
import { calls } from './calls.ts'

test('the calls of the page are those of the contract', () => {
  const described = Object.entries(endpoints.customerPage).map(([name, { method, path }]) => [
    name,
    [method, path],
  ])
  expect(calls).toEqual(Object.fromEntries(described))
})

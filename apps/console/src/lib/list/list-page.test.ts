import type { UseQueryResult } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'
import { ApiError } from '../api/call.ts'
import { tableState } from './list-page.ts'

vi.hoisted(() => vi.stubGlobal('window', { addEventListener() {} }))

const failed = (facts: ConstructorParameters<typeof ApiError>[1]) =>
  ({ isLoadingError: true, error: new ApiError('refused', facts), refetch() {} }) as unknown as UseQueryResult
const [clearFilters, clearSort] = [vi.fn(), vi.fn()]

test.each([
  [{ status: 400, code: 'invalid_input', fields: [{ path: 'sort', message: 'too many' }] }, 'Newest First'],
  [{ status: 400, code: 'invalid_input', fields: [{ path: 'search', message: 'too long' }] }, undefined],
  [{ status: 404, code: 'not_found' }, 'Clear Filters'],
  [{ status: 503, code: 'busy' }, undefined],
])('a list whose query failed with %j offers %s, else a retry', (facts, label) => {
  const { error } = tableState(failed(facts), 'Failed', undefined, { clearFilters, clearSort })
  expect(error?.remedy?.label).toBe(label)
})

test('Newest First leaves the order that the server rejected', () => {
  const query = failed({ status: 400, code: 'invalid_input', fields: [{ path: 'sort', message: '' }] })
  tableState(query, 'Failed', undefined, { clearFilters, clearSort }).error?.remedy?.onClick()
  expect([clearFilters, clearSort].map((clear) => clear.mock.calls.length)).toEqual([0, 1])
})

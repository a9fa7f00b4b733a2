import type { UseQueryResult } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'

// The session listens to other windows.
vi.stubGlobal('window', { addEventListener: () => {} })
const { tableState } = await import('./list-page.ts')

const waiting = { isPending: true, isLoadingError: false } as UseQueryResult

test('a list whose app could not be looked up shows that error and tries the look-up again', () => {
  const refetch = vi.fn()
  const app = {
    isLoadingError: true,
    error: new Error('No connection'),
    refetch,
  } as unknown as UseQueryResult
  const { loading, error } = tableState(waiting, 'Failed to load licenses', app)
  expect(loading).toBe(false)
  expect(error).toMatchObject({ title: 'Failed to load licenses', description: 'No connection' })
  error?.onRetry()
  expect(refetch).toHaveBeenCalledOnce()
})

test('a list waits for its app while that loads', () => {
  expect(tableState(waiting, 'Failed to load licenses', waiting)).toEqual({ loading: true, error: undefined })
})

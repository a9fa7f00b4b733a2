import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './call.ts'

/** Retry network errors and server failures, but not rejections. */
function isTransient(error: unknown) {
  return error instanceof ApiError ? error.status === 0 || error.status >= 500 : false
}

export const queryClient = new QueryClient({
  defaultOptions: {
    // Fail immediately while offline: a queued change would run later, unnoticed by the user.
    queries: {
      networkMode: 'always',
      staleTime: 30_000,
      gcTime: 5 * 60_000,
      retry: (failures, error) => failures < 3 && isTransient(error),
      retryDelay: (attempt) => Math.min(1000 * 2 ** attempt, 30_000),
    },
    mutations: { networkMode: 'always', retry: false },
  },
})

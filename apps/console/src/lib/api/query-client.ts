import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './call.ts'

/** Worth another try: no answer, or a failure of the server. Never what the server refused. */
function isTransient(error: unknown) {
  return error instanceof ApiError ? error.status === 0 || error.status >= 500 : false
}

export const queryClient = new QueryClient({
  defaultOptions: {
    // No answer is an error at once: a change that waits for the network would be carried out behind the user's back.
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

import { useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'

export function useDashboardStats() {
  return useQuery({
    queryKey: [...keys.dashboard, 'stats'],
    queryFn: async ({ signal }) =>
      (await call(wire.dashboard.data, { query: { banned: 'apart' }, signal })).stats,
    staleTime: 10_000,
    refetchInterval: 30_000,
  })
}

/** The activity of one app, or of all. Its key lies beside that of the dashboard, which each event refreshes. */
export function useActivity(app?: string) {
  return useQuery({
    queryKey: [...keys.dashboard, 'activity', app],
    queryFn: async ({ signal }) => (await call(wire.dashboard.activity, { query: { app }, signal })).days,
  })
}

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

export function useActivity() {
  return useQuery({
    queryKey: [...keys.dashboard, 'activity'],
    queryFn: async ({ signal }) => (await call(wire.dashboard.activity, { signal })).days,
  })
}

/** Kept with the activity log, so that what programs do refreshes it. */
export function useAppActivity(app: string) {
  return useQuery({
    queryKey: [...keys.dashboard, 'activity', app],
    queryFn: async ({ signal }) => (await call(wire.dashboard.activity, { query: { app }, signal })).days,
  })
}

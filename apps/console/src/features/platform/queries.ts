import type { DataOf, endpoints } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call, fieldMessage } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { ownerSession } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSwitches } from '../../ui/use-switches.ts'

type PlatformSettings = DataOf<typeof endpoints.settings.get>

export function usePlatformSettings() {
  return useQuery({
    queryKey: keys.settings,
    meta: { failure: 'Failed to load settings' },
    queryFn: ({ signal }) => call(wire.settings.get, { signal }),
  })
}

export function useUpdatePlatformSettings() {
  const client = useQueryClient()
  return useSwitches<PlatformSettings>({
    queryKey: keys.settings,
    read: () => client.getQueryData(keys.settings),
    show: (change) =>
      client.setQueryData<PlatformSettings>(keys.settings, (now) => now && { ...now, ...change }),
    send: (body) => call(wire.settings.update, { body }),
    done: 'Settings updated successfully',
    failed: 'Failed to update settings',
  })
}

/** Ends all sessions, so the guard of the page redirects to /auth. */
export function useResetPlatform() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (body: { password: string }) => call(wire.settings.reset, { body }),
    onSuccess: () => {
      ownerSession.set(null, true)
      client.clear()
      toast.success('Platform data has been reset successfully')
    },
    onError: (error) => {
      if (fieldMessage(error, 'password') === undefined) toastFailure(error, 'Failed to reset platform data')
    },
  })
}

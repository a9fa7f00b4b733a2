import type { BodyInputOf, DataOf, endpoints } from '@keyward/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { ownerSession } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { toastFailure } from '../../ui/failure-toast.ts'
import { toast } from '../../ui/toast.tsx'

type PlatformSettings = DataOf<typeof endpoints.settings.get>

export function usePlatformSettings() {
  return useQuery({
    queryKey: keys.settings,
    meta: { failure: 'Failed to load settings' },
    queryFn: ({ signal }) => call(wire.settings.get, { signal }),
  })
}

/** A switch moves at once and moves back when the server refuses. */
export function useUpdatePlatformSettings() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyInputOf<typeof endpoints.settings.update>) => call(wire.settings.update, { body }),
    onMutate: async (changes) => {
      await client.cancelQueries({ queryKey: keys.settings })
      const before = client.getQueryData<PlatformSettings>(keys.settings)
      client.setQueryData<PlatformSettings>(keys.settings, (present) => present && { ...present, ...changes })
      return before
    },
    onSuccess: (settings) => {
      client.setQueryData(keys.settings, settings)
      toast.success('Settings updated successfully')
    },
    onError: (error, _, before) => {
      client.setQueryData(keys.settings, before)
      toastFailure(error, 'Failed to update settings')
      // A lost answer does not say whether the server made the change.
      void client.invalidateQueries({ queryKey: keys.settings })
    },
  })
}

/** What the server says of the password that was given. */
export const passwordError = (error: unknown): string | undefined =>
  error instanceof ApiError ? error.fields.find(({ path }) => path === 'password')?.message : undefined

/** Afterwards no session is left, this one neither: the guard of the page leads to /auth. */
export function useResetPlatform() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: { password: string }) => call(wire.settings.reset, { body }),
    onSuccess: () => {
      ownerSession.set(null, true)
      client.clear()
      toast.success('Platform data has been reset successfully')
    },
    onError: (error) => {
      if (passwordError(error) === undefined) toastFailure(error, 'Failed to reset platform data')
    },
  })
}

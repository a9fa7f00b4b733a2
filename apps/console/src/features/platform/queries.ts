import type { BodyInputOf, DataOf, endpoints } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call, fieldMessage } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { ownerSession } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { undoButton } from '../../ui/undo.ts'

type PlatformSettings = DataOf<typeof endpoints.settings.get>
type Changes = BodyInputOf<typeof endpoints.settings.update>

export function usePlatformSettings() {
  return useQuery({
    queryKey: keys.settings,
    meta: { failure: 'Failed to load settings' },
    queryFn: ({ signal }) => call(wire.settings.get, { signal }),
  })
}

/** Updates a switch optimistically and reverts it when the server rejects the change. */
export function useUpdatePlatformSettings() {
  const client = useQueryClient()
  const show = (settings: PlatformSettings) => {
    client.setQueryData(keys.settings, settings)
  }

  async function restore(changes: Changes, before: PlatformSettings | undefined) {
    const names = Object.keys(changes) as (keyof Changes)[]
    const body = Object.fromEntries(names.map((name) => [name, before?.[name] ?? !changes[name]]))
    try {
      show(await call(wire.settings.update, { body }))
      toast.success('Undone')
    } catch (error) {
      toastFailure(error, 'Failed to update settings')
    }
  }

  return useWrite({
    mutationFn: (body: Changes) => call(wire.settings.update, { body }),
    onMutate: async (changes) => {
      await client.cancelQueries({ queryKey: keys.settings })
      const before = client.getQueryData<PlatformSettings>(keys.settings)
      client.setQueryData<PlatformSettings>(keys.settings, (present) => present && { ...present, ...changes })
      return before
    },
    onSuccess: (settings, changes, before) => {
      show(settings)
      toast.success(
        'Settings updated successfully',
        undoButton(() => restore(changes, before)),
      )
    },
    onError: (error, _, before) => {
      client.setQueryData(keys.settings, before)
      toastFailure(error, 'Failed to update settings')
      // Without a response it is unknown whether the server made the change.
      void client.invalidateQueries({ queryKey: keys.settings })
    },
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

import type { BodyInputOf, endpoints, NotificationSettings } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

type Change = BodyInputOf<typeof endpoints.notifications.update>

export function useNotifications() {
  return useQuery({
    queryKey: keys.notifications,
    meta: { failure: 'Failed to load notifications' },
    queryFn: ({ signal }) => call(wire.notifications.get, { signal }),
  })
}

/** Sets a switch at once and reverts it when the server rejects the change. */
export function useUpdateNotifications() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (body: Change) => call(wire.notifications.update, { body }),
    onMutate: async (change) => {
      await client.cancelQueries({ queryKey: keys.notifications })
      const before = client.getQueryData<NotificationSettings>(keys.notifications)
      client.setQueryData<NotificationSettings>(keys.notifications, (now) => now && { ...now, ...change })
      return before
    },
    onSuccess: (settings) => {
      client.setQueryData(keys.notifications, settings)
      toast.success('Notifications updated successfully')
    },
    onError: (error, _, before) => {
      client.setQueryData(keys.notifications, before)
      toastFailure(error, 'Failed to update notifications')
      // Without a response it is unknown whether the server made the change.
      void client.invalidateQueries({ queryKey: keys.notifications })
    },
  })
}

export function useRequestConfirmation() {
  return useWrite({
    mutationFn: () => call(wire.notifications.confirmEmail, { body: {} }),
    onSuccess: () =>
      toast.success('Link sent', {
        description: 'Open it within 24 hours, in a browser where you are signed in.',
      }),
    onError: (error) => toastFailure(error, 'Failed to send the link'),
  })
}

/** Confirms the address of the signed-in person with the token of a mailed link. */
export function useConfirmEmail() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (token: string) => call(wire.notifications.confirmEmail, { body: { token } }),
    onSuccess: () => {
      toast.success('Your address is confirmed')
      // Who works on some apps alone gets no event of this.
      void client.invalidateQueries({ queryKey: keys.owner })
    },
    onError: (error) => toastFailure(error, 'Failed to confirm your address'),
  })
}

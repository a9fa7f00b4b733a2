import type { NotificationSettings } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSwitches } from '../../ui/use-switches.ts'

export function useNotifications() {
  return useQuery({
    queryKey: keys.notifications,
    meta: { failure: 'Failed to load notifications' },
    queryFn: ({ signal }) => call(wire.notifications.get, { signal }),
  })
}

export function useUpdateNotifications() {
  const client = useQueryClient()
  return useSwitches<NotificationSettings>({
    queryKey: keys.notifications,
    read: () => client.getQueryData(keys.notifications),
    show: (change) =>
      client.setQueryData<NotificationSettings>(keys.notifications, (now) => now && { ...now, ...change }),
    send: (body) => call(wire.notifications.update, { body }),
    done: 'Notifications updated successfully',
    failed: 'Failed to update notifications',
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

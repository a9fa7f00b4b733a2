import type { Vendor } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { call, fieldMessage } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { ownerSession } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

/** The vendor accounts of the signed-in person. */
export function useVendors() {
  return useQuery({
    queryKey: keys.vendors,
    queryFn: async ({ signal }) => (await call(wire.vendors.list, { signal })).vendors,
    staleTime: 5 * 60_000,
  })
}

/** Opens another vendor account in this tab: nothing of the one before stays on the screen or in the cache. */
export function useOpenVendor() {
  const client = useQueryClient()
  const navigate = useNavigate()
  return useWrite({
    mutationFn: ({ _id }: Vendor) => call(wire.vendors.open, { body: { _id } }),
    onSuccess: async ({ token }) => {
      await client.cancelQueries()
      client.clear()
      ownerSession.switchTo(token)
      void navigate(paths.dashboard)
    },
    onError: (error) => {
      void client.invalidateQueries({ queryKey: keys.vendors })
      toastFailure(error, 'Failed to open this account')
    },
  })
}

/** Leaving the open vendor account ends the session. */
export function useLeaveVendor() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: ({ _id }: Vendor) => call(wire.vendors.leave, { params: { id: _id } }),
    onSuccess: (_, vendor) => {
      toast.success(`You left ${vendor.name}`)
      if (!vendor.current) return client.invalidateQueries({ queryKey: keys.vendors })
      ownerSession.set(null, true)
      client.clear()
    },
    onError: (error) => toastFailure(error, 'Failed to leave this account'),
  })
}

export function useDeleteAccount() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (body: { password: string }) => call(wire.vendors.deleteAccount, { body }),
    onSuccess: () => {
      ownerSession.set(null, true)
      client.clear()
      toast.success('Your account is deleted')
    },
    onError: (error) => {
      if (fieldMessage(error, 'password') === undefined) toastFailure(error, 'Failed to delete your account')
    },
  })
}

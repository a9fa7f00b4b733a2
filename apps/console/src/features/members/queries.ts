import type { BodyInputOf, endpoints, Member } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

export function useMembers() {
  return useQuery({
    queryKey: keys.members,
    meta: { failure: 'Failed to load the members' },
    queryFn: async ({ signal }) => (await call(wire.members.list, { signal })).members,
    refetchOnWindowFocus: true,
  })
}

export type Invitation = BodyInputOf<typeof endpoints.members.invite>

/** Inviting an address again replaces its link. */
export function useInvite() {
  return useWrite({
    mutationFn: (body: Invitation) => call(wire.members.invite, { body }),
    onError: (error) => toastFailure(error, 'Failed to invite this person'),
  })
}

type Changes = BodyInputOf<typeof endpoints.members.update>

export function useUpdateMember() {
  return useWrite({
    mutationFn: ({ id, ...body }: Changes & { id: string }) =>
      call(wire.members.update, { params: { id }, body }),
    onSuccess: ({ member }) =>
      toast.success('Member updated', { description: `${nameOf(member)} has the new rights at once.` }),
    onError: (error) => toastFailure(error, 'Failed to update the member'),
  })
}

export function useRemoveMember() {
  return useWrite({
    mutationFn: ({ _id }: Member) => call(wire.members.remove, { params: { id: _id } }),
    onSuccess: (_, member) => toast.success(member.invited ? 'Invitation withdrawn' : 'Member removed'),
    onError: (error) => toastFailure(error, 'Failed to remove the member'),
  })
}

/** The caller becomes a manager, so everything that it sees may change. */
export function useMakeOwner() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: ({ _id }: Member) => call(wire.members.makeOwner, { params: { id: _id } }),
    onSuccess: (_, member) => {
      toast.success('Account handed over', { description: `${nameOf(member)} is the owner now.` })
      void client.invalidateQueries()
    },
    onError: (error) => toastFailure(error, 'Failed to hand over the account'),
  })
}

export const nameOf = ({ name, email }: Member) => name ?? email

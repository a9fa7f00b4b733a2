import type { User } from '@keyward/contract'
import { useQuery } from '@tanstack/react-query'
import { call } from './call.ts'
import { keys } from './query-keys.ts'
import { ownerSession, useToken } from './session.ts'
import { wire } from './wire.ts'

/** The signed-in person with what it may do at the open vendor account. */
export function useOwner() {
  const token = useToken(ownerSession)
  return useQuery({
    queryKey: keys.owner,
    queryFn: async ({ signal }) => (await call(wire.auth.profile, { signal })).user,
    enabled: token !== null,
  })
}

/** Names what this browser remembers for a person at one vendor account. */
export const placeOf = ({ _id, vendor }: Pick<User, '_id' | 'vendor'>) =>
  vendor._id === _id ? _id : `${_id}-${vendor._id}`

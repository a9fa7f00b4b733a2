import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../../lib/api/call.ts'
import { keys } from '../../../lib/api/query-keys.ts'
import { wire } from '../../../lib/api/wire.ts'
import { useWrite } from '../../../lib/api/write.ts'
import { toastFailure } from '../../../ui/failure-toast.tsx'
import { toast } from '../../../ui/toast.tsx'

const listKey = (id: string) => [...keys.app, id, 'all-signing-keys']

/** All keys of an app, the revoked ones too, newest first. */
export function useAllSigningKeys(id: string) {
  return useQuery({
    queryKey: listKey(id),
    queryFn: async ({ signal }) =>
      (await call(wire.signingKeys.list, { params: { id }, signal })).signingKeys,
  })
}

type Change = { act: 'create' } | { act: 'promote' | 'revoke'; kid: string }

const done = {
  create: 'Next key made',
  promote: 'Key promoted',
  revoke: 'Key revoked',
}

export function useChangeSigningKeys(id: string) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: async (change: Change) => {
      if (change.act === 'create') return call(wire.signingKeys.create, { params: { id } })
      return call(wire.signingKeys[change.act], { params: { id, kid: change.kid } })
    },
    onSuccess: ({ signingKeys }, { act }) => {
      client.setQueryData(listKey(id), signingKeys)
      toast.success(done[act])
    },
    onError: (error) => toastFailure(error, 'Failed to change the signing keys'),
  })
}

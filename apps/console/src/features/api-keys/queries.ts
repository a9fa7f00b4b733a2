import type { ApiKey, BodyInputOf, DataOf, endpoints } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure, toastUnlessFields } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

export type CreatedApiKey = DataOf<typeof endpoints.apiKeys.create>

export const useApiKeys = () =>
  useQuery({
    queryKey: keys.apiKeys,
    meta: { failure: 'Failed to load API keys' },
    queryFn: async ({ signal }) => (await call(wire.apiKeys.list, { signal })).apiKeys,
    refetchOnWindowFocus: true,
  })

export function useCreateApiKey() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (body: BodyInputOf<typeof endpoints.apiKeys.create>) => call(wire.apiKeys.create, { body }),
    onSuccess: ({ apiKey }) =>
      client.setQueryData<ApiKey[]>(keys.apiKeys, (present) => present && [apiKey, ...present]),
    onError: toastUnlessFields('Failed to create the API key'),
  })
}

export function useRevokeApiKey() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: ({ _id }: ApiKey) => call(wire.apiKeys.revoke, { params: { id: _id } }),
    onSuccess: (_, { _id, name }) => {
      client.setQueryData<ApiKey[]>(keys.apiKeys, (present) => present?.filter((one) => one._id !== _id))
      toast.success('API key revoked', { description: `${name} is refused from now on.` })
    },
    onError: (error) => toastFailure(error, 'Failed to revoke the API key'),
  })
}

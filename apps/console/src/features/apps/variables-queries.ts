import type { AppVariable } from '@keyward/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { toastFailure } from '../../ui/failure-toast.ts'
import { toast } from '../../ui/toast.tsx'

const listKey = (id: string) => [...keys.app, id, 'variables']

export function useAppVariables(id: string) {
  return useQuery({
    queryKey: listKey(id),
    queryFn: async ({ signal }) => (await call(wire.variables.app, { params: { id }, signal })).variables,
    refetchOnMount: 'always',
  })
}

export function useSetAppVariables(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (variables: AppVariable[]) =>
      call(wire.variables.setApp, { params: { id }, body: { variables } }),
    onSuccess: ({ variables }) => {
      client.setQueryData(listKey(id), variables)
      toast.success('Variables saved')
    },
    onError: (error) => toastFailure(error, 'Failed to save the variables'),
  })
}

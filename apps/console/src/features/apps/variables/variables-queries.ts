import type { BodyInputOf, endpoints } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../../lib/api/call.ts'
import { keys } from '../../../lib/api/query-keys.ts'
import { wire } from '../../../lib/api/wire.ts'
import { useWrite } from '../../../lib/api/write.ts'
import { toastFailure } from '../../../ui/failure-toast.tsx'
import { toast } from '../../../ui/toast.tsx'

const listKey = (id: string) => [...keys.app, id, 'variables']

export function useAppVariables(id: string) {
  return useQuery({
    queryKey: listKey(id),
    queryFn: ({ signal }) => call(wire.variables.app, { params: { id }, signal }),
    refetchOnMount: 'always',
  })
}

export function useSetAppVariables(id: string) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (body: BodyInputOf<typeof endpoints.variables.setApp>) =>
      call(wire.variables.setApp, { params: { id }, body }),
    onSuccess: (saved) => {
      client.setQueryData(listKey(id), saved)
      toast.success('Variables saved')
    },
    onError: (error) => toastFailure(error, 'Failed to save the variables'),
  })
}

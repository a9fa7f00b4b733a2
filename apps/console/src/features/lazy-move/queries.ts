import type { BodyInputOf, endpoints } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastUnlessFields } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

const keyOf = (app: string) => [...keys.app, app, 'lazy-move']

export function useLazyMove(app: string) {
  return useQuery({
    queryKey: keyOf(app),
    queryFn: ({ signal }) => call(wire.lazyMove.get, { params: { id: app }, signal }),
  })
}

export type NewLazyMove = BodyInputOf<typeof endpoints.lazyMove.update>

export function useUpdateLazyMove(app: string, saidOnSuccess: string) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (body: NewLazyMove) => call(wire.lazyMove.update, { params: { id: app }, body }),
    onSuccess: (saved) => {
      client.setQueryData(keyOf(app), saved)
      toast.success(saidOnSuccess)
    },
    onError: toastUnlessFields('Failed to save the move'),
  })
}

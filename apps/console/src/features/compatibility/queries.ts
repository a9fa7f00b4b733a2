import type { BodyInputOf, endpoints } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastUnlessFields } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

const keyOf = (app: string) => [...keys.app, app, 'compatibility']

export function useCompatibility(app: string) {
  return useQuery({
    queryKey: keyOf(app),
    queryFn: ({ signal }) => call(wire.compatibility.get, { params: { id: app }, signal }),
  })
}

export function useUpdateCompatibility(app: string) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (body: BodyInputOf<typeof endpoints.compatibility.update>) =>
      call(wire.compatibility.update, { params: { id: app }, body }),
    onSuccess: (saved) => {
      client.setQueryData(keyOf(app), saved)
      toast.success('Compatibility saved')
    },
    onError: toastUnlessFields('Failed to save the compatibility'),
  })
}

import type { BodyInputOf, endpoints, ProgramHash } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../../lib/api/call.ts'
import { keys } from '../../../lib/api/query-keys.ts'
import { wire } from '../../../lib/api/wire.ts'
import { useWrite } from '../../../lib/api/write.ts'
import { toastFailure } from '../../../ui/failure-toast.tsx'
import { toast } from '../../../ui/toast.tsx'

const blocksKey = (id: string) => [...keys.app, id, 'blocklist']
const hashesKey = (id: string) => [...keys.app, id, 'program-hashes']

export function useBlocks(id: string, page: number) {
  return useQuery({
    queryKey: [...blocksKey(id), page],
    queryFn: ({ signal }) =>
      call(wire.blocklist.list, { params: { id }, query: { page, limit: blocksPerPage }, signal }),
  })
}

export const blocksPerPage = 20

export function useBlock(id: string) {
  return useWrite({
    mutationFn: (body: BodyInputOf<typeof endpoints.blocklist.add>) =>
      call(wire.blocklist.add, { params: { id }, body }),
    onSuccess: ({ block }) =>
      toast.success('Blocked', {
        description: `Programs on ${block.value} are refused from their next call on.`,
      }),
    onError: (error) => toastFailure(error, 'Failed to block this'),
  })
}

export function useUnblock() {
  return useWrite({
    mutationFn: (blockId: string) => call(wire.blocklist.remove, { params: { id: blockId } }),
    onSuccess: () => toast.success('Unblocked'),
    onError: (error) => toastFailure(error, 'Failed to unblock this'),
  })
}

export function useHashes(id: string) {
  return useQuery({
    queryKey: hashesKey(id),
    queryFn: async ({ signal }) => (await call(wire.blocklist.hashes, { params: { id }, signal })).hashes,
  })
}

export function useSetHashes(id: string) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: async (body: { hashes: ProgramHash[]; seen: { hashes: ProgramHash[] } }) =>
      (await call(wire.blocklist.setHashes, { params: { id }, body })).hashes,
    onSuccess: (hashes) => {
      client.setQueryData(hashesKey(id), hashes)
      toast.success('Allowed builds updated')
    },
    onError: (error) => toastFailure(error, 'Failed to update allowed builds'),
  })
}

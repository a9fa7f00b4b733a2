import type { License } from '@keyward/contract'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailed } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

export type TypeEnd = 'later' | 'type' | 'keep'

/** The license as the server would change it to a type. */
export function useTypePreview(license: License, type: string | undefined, end: TypeEnd) {
  return useQuery({
    queryKey: [...keys.licenses, 'typed', license._id, type, end],
    meta: { failure: 'Failed to fetch the license' },
    queryFn: async ({ signal }) => {
      const body = { type: type ?? '', end, dryRun: true }
      return (await call(wire.licenses.update, { params: { id: license._id }, body, signal })).license
    },
    enabled: type !== undefined,
    staleTime: 0,
  }).data
}

interface TypeChange {
  /** As the owner saw it. */
  license: License
  type: string
  end: TypeEnd
}

export function useChangeType() {
  return useWrite({
    mutationFn: ({ license, type, end }: TypeChange) => {
      const { expiresAt, term, devices, features } = license
      const seen = { expiresAt, term, devices, features, type: license.type?._id ?? null }
      return call(wire.licenses.update, { params: { id: license._id }, body: { type, end, seen } })
    },
    onSuccess: () =>
      toast.success('License Updated', { description: 'The new type applies from the next check on.' }),
    onError: (error) => toastFailed('Update Failed', error, 'Failed to update license.'),
  })
}

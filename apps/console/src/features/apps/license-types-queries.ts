import type { BodyInputOf, endpoints } from '@keyward/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { amountOf } from '../../lib/format/words.ts'
import { toastFailure } from '../../ui/failure-toast.ts'
import { toast } from '../../ui/toast.tsx'

export { useLicenseTypes } from '../../lib/api/license-types.ts'

function useRefresh() {
  const client = useQueryClient()
  return () => {
    for (const queryKey of [keys.licenseTypes, keys.licenses, keys.clients]) {
      void client.invalidateQueries({ queryKey })
    }
  }
}

export type TypeBody = BodyInputOf<typeof endpoints.licenseTypes.create>

/** Creates a type, or changes the one with the id. */
export function useSaveLicenseType(app: string) {
  const refresh = useRefresh()
  return useMutation({
    mutationFn: async ({ id, body, applyTo }: { id?: string; body: TypeBody; applyTo: 'new' | 'all' }) => {
      if (id !== undefined) {
        const body_ = { ...body, applyTo }
        return call(wire.licenseTypes.update, { params: { id }, body: body_ })
      }
      const made = await call(wire.licenseTypes.create, { params: { id: app }, body })
      return { ...made, changedLicenses: 0 }
    },
    onSuccess: ({ changedLicenses }, { id, applyTo }) =>
      toast.success(id === undefined ? 'License type created' : 'License type changed', {
        description:
          applyTo === 'all' && id !== undefined
            ? `${amountOf(changedLicenses, 'sold license')} changed too.`
            : 'It applies to licenses that you generate from now on.',
      }),
    onError: (error) => toastFailure(error, 'Failed to save the license type'),
    onSettled: refresh,
  })
}

export function useDeleteLicenseType() {
  const refresh = useRefresh()
  return useMutation({
    mutationFn: (id: string) => call(wire.licenseTypes.remove, { params: { id } }),
    onSuccess: () => toast.success('License type deleted'),
    onError: (error) => toastFailure(error, 'Failed to delete the license type'),
    onSettled: refresh,
  })
}

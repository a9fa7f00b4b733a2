import type { LicenseTerm } from '@keyward/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call, hasCode } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { toastFailed } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { refreshLicenses, undoLicenses } from './queries.ts'

interface ExpiryEdit {
  id: string
  expiresAt: string | null
  seen: { expiresAt: string | null; term: LicenseTerm }
}

export function useEditExpiry() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: ExpiryEdit) => call(wire.licenses.update, { params: { id }, body }),
    onSuccess: ({ undo }) => {
      refreshLicenses(client)
      toast.success('License Updated', {
        description: 'The new expiry applies immediately.',
        ...undoLicenses(client, undo),
      })
    },
    onError: (error) => {
      if (hasCode(error, 'license_changed')) refreshLicenses(client)
      toastFailed('Update Failed', error, 'Failed to update license.')
    },
  })
}

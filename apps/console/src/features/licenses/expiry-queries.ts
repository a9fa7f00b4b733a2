import type { LicenseTerm } from '@keyward/contract'
import { call } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { type Extension, extendedText } from '../../lib/format/extension.ts'
import { toastFailed } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { undoLicenses } from './queries.ts'

interface ExpiryEdit {
  id: string
  /** Time that is added; without it, the license gets a new end. */
  more: Extension | undefined
  expiresAt: string | null
  seen: { expiresAt: string | null; term: LicenseTerm }
}

/** More time is sent as such: the server adds it to whatever end the license has by then. */
export function useEditExpiry() {
  return useWrite({
    mutationFn: async ({ id, more, ...body }: ExpiryEdit) => {
      if (!more) return (await call(wire.licenses.update, { params: { id }, body })).undo
      return (await call(wire.bulk.licenses, { body: { action: 'extend', ids: [id], ...more } })).undo
    },
    onSuccess: (undo, { more }) =>
      toast.success('License Updated', {
        description: more ? extendedText(1, 'license', more) : 'The new expiry applies immediately.',
        ...undoLicenses(undo),
      }),
    onError: (error) => toastFailed('Update Failed', error, 'Failed to update license.'),
  })
}

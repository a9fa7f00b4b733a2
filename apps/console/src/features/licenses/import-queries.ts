import type { BodyInputOf, endpoints } from '@keyward/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ApiError, call } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { amountOf } from '../../lib/format/words.ts'
import { toastFailed } from '../../ui/failure-toast.ts'
import { toast } from '../../ui/toast.tsx'
import { refreshLicenses } from './queries.ts'

type Body = Omit<BodyInputOf<typeof endpoints.bulk.importLicenses>, 'dryRun'>

export function useCheckImport() {
  return useMutation({
    mutationFn: (body: Body) => call(wire.bulk.importLicenses, { body: { ...body, dryRun: true } }),
    onError: (error) => {
      if (error instanceof ApiError && error.fields.length > 0) return
      toastFailed('Check Failed', error, 'Failed to check the file.')
    },
  })
}

export function useImport() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: Body) => call(wire.bulk.importLicenses, { body: { ...body, dryRun: false } }),
    onSuccess: ({ created, skipped }) => {
      toast.success('Licenses Imported', {
        description: `${amountOf(created, 'license')} created, ${skipped.toLocaleString()} skipped.`,
      })
    },
    onError: (error) => toastFailed('Import Failed', error, 'Failed to import licenses.'),
    // Without a response the import may still have succeeded.
    onSettled: () => refreshLicenses(client),
  })
}

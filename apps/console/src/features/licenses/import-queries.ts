import type { BodyInputOf, endpoints } from '@keyward/contract'
import { useQueryClient } from '@tanstack/react-query'
import { call, hasFieldErrors } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import type { KeyedBody } from '../../lib/form/use-request.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { amountOf } from '../../lib/format/words.ts'
import { toastFailed } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { refreshLicenses } from './queries.ts'

type Body = Omit<BodyInputOf<typeof endpoints.bulk.importLicenses>, 'dryRun'>

export function useCheckImport() {
  return useWrite({
    mutationFn: (body: Body) => call(wire.bulk.importLicenses, { body: { ...body, dryRun: true } }),
    onError: (error) => {
      if (hasFieldErrors(error)) return
      toastFailed('Check Failed', error, 'Failed to check the file.')
    },
  })
}

export function useImport() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: ({ body: { app, csv }, idempotencyKey }: KeyedBody<Body>) =>
      call(wire.bulk.importLicenses, { body: { app, csv, dryRun: false }, idempotencyKey }),
    onSuccess: ({ created, skipped }) => {
      toast.success('Licenses Imported', {
        description: `${amountOf(created, 'license')} created, ${formatNumber(skipped)} skipped.`,
      })
    },
    onError: (error) => {
      // The server counts the lines of what was sent, which may be a part of the file.
      if (hasFieldErrors(error)) toast.error('Nothing Was Imported', { description: changedMessage })
      else toastFailed('Import Failed', error, 'Failed to import licenses.')
    },
    // Without a response the import may still have succeeded.
    onSettled: () => refreshLicenses(client),
  })
}

const changedMessage =
  'Some rows can no longer be imported. They are listed with their lines: correct them, or import the other rows.'

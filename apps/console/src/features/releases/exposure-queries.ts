import type { Release } from '@keyward/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call, callForFile } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { saveFile } from '../../lib/browser/save-file.ts'
import { amountOf } from '../../lib/format/words.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

const keyOf = (id: string) => [...keys.app, 'exposure', id]

export function useExposure(id: string) {
  return useQuery({
    queryKey: keyOf(id),
    queryFn: ({ signal }) => call(wire.exposure.get, { params: { id }, signal }),
  })
}

export function useExposedCustomers(id: string, page: number) {
  return useQuery({
    queryKey: [...keyOf(id), 'customers', page],
    queryFn: ({ signal }) =>
      call(wire.exposure.customers, { params: { id }, query: { page, limit: 10 }, signal }),
    placeholderData: keepPreviousData,
  })
}

/** Whom a mail about the release would reach. */
export function useNotifyPreview(id: string) {
  return useQuery({
    queryKey: [...keyOf(id), 'preview'],
    queryFn: ({ signal }) => call(wire.exposure.notify, { params: { id }, body: { dryRun: true }, signal }),
    gcTime: 0,
  })
}

export function useNotify({ _id: id, version }: Release) {
  return useWrite({
    mutationFn: () => call(wire.exposure.notify, { params: { id }, body: {} }),
    onSuccess: ({ customers }) =>
      toast.success('Mails queued', {
        description: `${amountOf(customers, 'customer')} will be mailed about ${version}.`,
      }),
    onError: (error) => toastFailure(error, 'Failed to mail the customers'),
  })
}

export async function saveEvidence({ _id: id, version }: Release) {
  try {
    const response = await callForFile(wire.exposure.evidence, { params: { id } })
    saveFile(`evidence-${version}.jws`, [await response.arrayBuffer()], 'application/jose')
  } catch (error) {
    toastFailure(error, 'Failed to download the evidence')
  }
}

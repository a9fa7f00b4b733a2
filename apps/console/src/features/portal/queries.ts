import type { BodyInputOf, endpoints } from '@keyward/contract'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, callWithMessage } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import type { KeyedBody } from '../../lib/form/use-request.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

/** A page of the reseller's licenses, newest first, and the counts of all of them. */
export function usePortalLicenses(query: { page?: number; limit: number; search?: string | undefined }) {
  return useQuery({
    queryKey: [...keys.reseller, 'licenses', query],
    meta: { failure: 'Failed to fetch licenses' },
    queryFn: ({ signal }) => call(wire.portal.listLicenses, { query, signal }),
    staleTime: 5_000,
    refetchOnMount: true,
    refetchOnWindowFocus: true,
    placeholderData: keepPreviousData,
  })
}

/** A license, its devices and why it was refused last. */
export function usePortalLicense(id: string) {
  return useQuery({
    queryKey: [...keys.reseller, 'license', id],
    queryFn: ({ signal }) => call(wire.portal.getLicense, { params: { id }, signal }),
    refetchOnMount: 'always',
  })
}

/** The license types that the reseller may sell. */
export function usePortalLicenseTypes() {
  return useQuery({
    queryKey: [...keys.reseller, 'license-types'],
    queryFn: async ({ signal }) => (await call(wire.portal.listLicenseTypes, { signal })).licenseTypes,
    staleTime: 10_000,
  })
}

/** Includes the profile, which contains the quota. */
function useRefetchAll() {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: keys.reseller })
}

export function useGeneratePortalLicenses() {
  const refetchAll = useRefetchAll()
  return useWrite({
    mutationFn: async (request: KeyedBody<BodyInputOf<typeof endpoints.portal.createLicenses>>) =>
      (await call(wire.portal.createLicenses, request)).licenses,
    onSuccess: (licenses) =>
      toast.success('Licenses generated successfully!', {
        description: `${licenses.length} license(s) created successfully`,
      }),
    onError: (error) => toastFailure(error, 'Failed to create licenses'),
    onSettled: () => void refetchAll(),
  })
}

export function useNotePortalLicense() {
  const refetchAll = useRefetchAll()
  return useWrite({
    mutationFn: ({ id, body }: { id: string; body: BodyInputOf<typeof endpoints.portal.updateLicense> }) =>
      call(wire.portal.updateLicense, { params: { id }, body }),
    onSuccess: () => toast.success('Note Saved'),
    onError: (error) => toastFailure(error, 'Failed to save the note'),
    onSettled: () => void refetchAll(),
  })
}

export function useDeletePortalLicenses() {
  const refetchAll = useRefetchAll()
  return useWrite({
    mutationFn: () => callWithMessage(wire.portal.removeLicenses),
    onSuccess: ({ data, message }) =>
      toast.success(message ?? `Successfully deleted ${data.deletedCount} license(s)`),
    onError: (error) => toastFailure(error, 'Failed to delete licenses'),
    onSettled: () => void refetchAll(),
  })
}

/** Refetches everything on the page and reports the result. */
export function useRefresh(texts: { done: string; failed: string }) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: () =>
      client.refetchQueries({ queryKey: keys.reseller, type: 'active' }, { throwOnError: true }),
    onSuccess: () => toast.success(texts.done),
    onError: (error) => toastFailure(error, texts.failed),
  })
}

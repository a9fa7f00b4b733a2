import {
  type BodyInputOf,
  type endpoints,
  type Grant,
  type License,
  licenseStatus,
  type QueryInputOf,
  type UndoRow,
} from '@keyward/contract'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { serverNow } from '../../lib/api/server-time.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import type { KeyedBody } from '../../lib/form/use-request.ts'
import { accessEnds } from '../../lib/format/ending.ts'
import { toastFailed } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { undoOption } from '../../ui/undo.ts'
import { findOffline } from './users-offline.ts'

export type LicenseQuery = QueryInputOf<typeof endpoints.licenses.list>

export function useLicenses(query: LicenseQuery, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.licenses, query],
    meta: { failure: 'Failed to fetch licenses' },
    queryFn: ({ signal }) => call(wire.licenses.list, { query, signal }),
    enabled,
    staleTime: 5_000,
    refetchOnMount: true,
    refetchOnWindowFocus: true,
    placeholderData: keepPreviousData,
  })
}

export function useLicense(id: string) {
  const client = useQueryClient()
  return useQuery({
    queryKey: [...keys.licenses, 'one', id],
    meta: { failure: 'Failed to fetch the license' },
    queryFn: async ({ signal }): Promise<License & { grants?: Grant[] }> =>
      (await call(wire.licenses.get, { params: { id }, signal })).license,
    staleTime: 5_000,
    // No event follows when a mail goes out.
    refetchInterval: ({ state }) => state.data?.mail === 'queued' && 5_000,
    placeholderData: () =>
      client
        .getQueriesData<Partial<Listed>>({ queryKey: keys.licenses })
        .flatMap(([, data]) => data?.licenses ?? [])
        .find((license) => license._id === id),
  })
}

/** How many more licenses the owner's plan allows for an app; null if unlimited, undefined until known. */
export function useLicensesLeft(app: string | undefined) {
  return useQuery({
    queryKey: [...keys.licenses, 'left', app],
    queryFn: async ({ signal }) =>
      (await call(wire.apps.stats, { params: { id: app ?? '' }, signal })).stats.licensesLeft,
    enabled: app !== undefined,
    staleTime: 5_000,
  }).data
}

/** The newest resellers of an app that licenses can be generated for. */
export function useSellers(app: string, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.resellers, 'sellers', app],
    queryFn: ({ signal }) => call(wire.resellers.list, { query: sellersOf(app), signal }),
    enabled,
    staleTime: 10_000,
  }).data
}

export const findSellers = async (app: string, search: string) =>
  (await call(wire.resellers.list, { query: { ...sellersOf(app), search } })).resellers

const sellersOf = (app: string) => ({ app, active: 'true', limit: 50 })

export function useGenerateLicenses() {
  return useWrite({
    mutationFn: async (request: KeyedBody<BodyInputOf<typeof endpoints.licenses.create>>) =>
      (await call(wire.licenses.create, request)).licenses,
    onSuccess: (licenses) =>
      toast.success('Licenses Generated', {
        description: `Successfully generated ${licenses.length} license(s).`,
      }),
    onError: (error) => toastFailed('Generation Failed', error, 'Failed to generate licenses.'),
  })
}

/** Changes devices, features or note of a license. */
export function useEditLicense() {
  return useWrite({
    mutationFn: ({ id, body }: { id: string; body: BodyInputOf<typeof endpoints.licenses.update> }) =>
      call(wire.licenses.update, { params: { id }, body }),
    onSuccess: () =>
      toast.success('License Updated', { description: 'The change applies from the next check on.' }),
    onError: (error) => toastFailed('Update Failed', error, 'Failed to update license.'),
  })
}

/** The Undo button of a toast about licenses that changed. */
export const undoLicenses = (rows: readonly UndoRow[]) =>
  undoOption({
    rows,
    restore: (undo) => call(wire.bulk.undoLicenses, { body: { undo } }),
    noun: 'license',
  })

/** What undoes the ban of a license, or its lifting. */
const banUndo = ({ _id, banned, banReason }: License, after: boolean, reason = ''): UndoRow => ({
  _id,
  ban: {
    before: { banned, reason: banReason },
    after: { banned: after, reason: (after && reason.trim()) || null },
  },
})

type Listed = { licenses: License[] }

function withBan(license: License, banned: boolean): License {
  const endsAt = accessEnds(license)
  return { ...license, banned, status: licenseStatus({ banned, used: license.used, endsAt }, serverNow()) }
}

/** Updates the lists optimistically and reverts them when the server rejects the change. */
export function useSetLicenseBan() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: ({ license, banned, reason }: { license: License; banned: boolean; reason?: string }) =>
      call(wire.licenses.toggleBan, { params: { id: license._id }, body: { is_banned: banned, reason } }),
    onMutate: async ({ license, banned }) => {
      await client.cancelQueries({ queryKey: keys.licenses })
      const before = client.getQueriesData<Listed>({ queryKey: keys.licenses })
      client.setQueriesData<Listed>(
        { queryKey: keys.licenses },
        (data) =>
          data?.licenses && {
            ...data,
            licenses: data.licenses.map((row) => (row._id === license._id ? withBan(row, banned) : row)),
          },
      )
      return before
    },
    onSuccess: async (_, { license, banned, reason }) => {
      const offline = banned && !license.added ? await findOffline(client, license) : undefined
      const rejected = offline
        ? `Programs that use it are now rejected. ${offline}`
        : 'Programs that use it are now rejected, and offline ones when their lease or activation file ends.'
      toast.success(banned ? 'License Banned' : 'License Unbanned', {
        description: banned ? rejected : 'It can be used again.',
        ...undoLicenses([banUndo(license, banned, reason)]),
      })
    },
    onError: (error, { banned }, before) => {
      for (const [key, data] of before ?? []) client.setQueryData(key, data)
      toastFailed(
        banned ? 'Ban Failed' : 'Unban Failed',
        error,
        banned ? 'Failed to ban license.' : 'Failed to unban license.',
      )
    },
  })
}

export function useDeleteLicense() {
  return useWrite({
    mutationFn: (id: string) => call(wire.licenses.remove, { params: { id } }),
    onSuccess: () =>
      toast.success('License Deleted', { description: 'The license has been permanently deleted.' }),
    onError: (error) => toastFailed('Delete Failed', error, 'Failed to delete license.'),
  })
}

export function useDeleteAllLicenses() {
  return useWrite({
    mutationFn: (app: string | undefined) => call(wire.licenses.removeAll, { query: { app } }),
    onSuccess: ({ deletedCount }) =>
      toast.success('All Licenses Deleted', {
        description: `Successfully deleted ${deletedCount} license(s).`,
      }),
    onError: (error) => toastFailed('Delete All Failed', error, 'Failed to delete licenses.'),
  })
}

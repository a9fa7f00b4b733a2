import type { BodyInputOf, DataOf, endpoints, Reseller } from '@keyward/contract'
import { keepPreviousData, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

type ResellerPage = DataOf<typeof endpoints.resellers.list>

export const statusFacts = { active: { label: 'Active' }, suspended: { label: 'Suspended' } }

export interface ResellerQuery {
  app: string | undefined
  status: keyof typeof statusFacts | undefined
  search: string | undefined
  page: number
  limit: number
}

/** A page of the resellers that match the filters, newest first, and the counts of all resellers. */
export function useResellers({ status, ...rest }: ResellerQuery, enabled: boolean) {
  const query = { ...rest, active: status && (status === 'active' ? 'true' : 'false') }
  return useQuery({
    queryKey: [...keys.resellers, query],
    meta: { failure: 'Failed to fetch resellers' },
    queryFn: ({ signal }) => call(wire.resellers.list, { query, signal }),
    enabled,
    refetchOnWindowFocus: true,
    placeholderData: keepPreviousData,
  })
}

/** A reseller with its open sessions. */
export function useReseller(id: string) {
  return useQuery({
    queryKey: [...keys.resellers, 'one', id],
    meta: { failure: 'Failed to fetch the reseller' },
    queryFn: ({ signal }) => call(wire.resellers.get, { params: { id }, signal }),
    staleTime: 5_000,
    refetchOnWindowFocus: true,
  })
}

/** Updates the resellers on every cached page. */
function setRows(client: QueryClient, change: (rows: Reseller[]) => Reseller[]) {
  client.setQueriesData<ResellerPage>(
    { queryKey: keys.resellers },
    // The page of one reseller is below the same key.
    (page) => page?.resellers && { ...page, resellers: change(page.resellers) },
  )
}

function putReseller(client: QueryClient, reseller: Reseller) {
  setRows(client, (rows) => rows.map((present) => (present._id === reseller._id ? reseller : present)))
}

export function useCreateReseller() {
  return useWrite({
    mutationFn: (body: BodyInputOf<typeof endpoints.resellers.create>) =>
      call(wire.resellers.create, { body }),
    onSuccess: () => toast.success('Reseller account has been created successfully.'),
    onError: (error) => toastFailure(error, 'Failed to create reseller.'),
  })
}

interface LimitEdit {
  id: string
  licenseLimit: number
  seen: { licenseLimit: number }
}

export function useEditLimit() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: async ({ id, ...body }: LimitEdit) =>
      (await call(wire.resellers.update, { params: { id }, body })).reseller,
    onSuccess: (reseller) => {
      putReseller(client, reseller)
      toast.success('Reseller license limit has been updated successfully.')
    },
    onError: (error) => toastFailure(error, 'Failed to update reseller license limit'),
  })
}

export function useSetActive() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: async ({ id, active }: { id: string; active: boolean }) =>
      (await call(wire.resellers.update, { params: { id }, body: { active } })).reseller,
    onSuccess: (reseller) => {
      putReseller(client, reseller)
      toast.success(reseller.active ? 'Reseller resumed' : 'Reseller suspended', {
        description: reseller.active
          ? `${reseller.email} can sign in again.`
          : `${reseller.email} has been signed out and cannot sign in.`,
      })
    },
    onError: (error) => toastFailure(error, 'Failed to update reseller.'),
  })
}

export function useEndResellerSessions() {
  return useWrite({
    mutationFn: (id: string) => call(wire.resellers.endSessions, { params: { id } }),
    onSuccess: () => toast.success('The reseller has been signed out everywhere.'),
    onError: (error) => toastFailure(error, 'Failed to end the sessions.'),
  })
}

export function useResetSecondFactor() {
  return useWrite({
    mutationFn: (id: string) => call(wire.resellers.resetSecondFactor, { params: { id } }),
    onSuccess: () => toast.success('Second factor reset'),
    onError: (error) => toastFailure(error, 'Failed to reset the second factor.'),
  })
}

export function useDeleteReseller() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (id: string) => call(wire.resellers.remove, { params: { id } }),
    onSuccess: (_, id) => {
      setRows(client, (rows) => rows.filter((reseller) => reseller._id !== id))
      toast.success('Reseller has been permanently deleted.')
    },
    onError: (error) => toastFailure(error, 'Failed to delete reseller.'),
  })
}

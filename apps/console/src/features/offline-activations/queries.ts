import type { BodyOf, endpoints } from '@keyward/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toast } from '../../ui/toast.tsx'

export const pageSize = 10

/** The machines of an app, or of one of its end users, that run with a file. */
export function useOfflineActivations(app: string, client: string | undefined, page: number) {
  return useQuery({
    queryKey: [...keys.clients, 'offline-activations', app, client, page],
    meta: { failure: 'Failed to load the offline activations' },
    queryFn: ({ signal }) =>
      call(wire.offlineActivations.list, {
        params: { id: app },
        query: { page, limit: pageSize, ...(client !== undefined && { client }) },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
}

type Calls = (typeof endpoints)['offlineActivations']

export function useActivateOffline(app: string) {
  return useWrite({
    mutationFn: (body: BodyOf<Calls['activate']>) =>
      call(wire.offlineActivations.activate, { params: { id: app }, body }),
  })
}

export function useDeactivateOffline(app: string) {
  return useWrite({
    mutationFn: (body: BodyOf<Calls['deactivate']>) =>
      call(wire.offlineActivations.deactivate, { params: { id: app }, body }),
    onSuccess: ({ activation }) =>
      toast.success('Machine Deactivated', {
        description: `Another machine of ${activation.client.name ?? 'the end user'} can take its place.`,
      }),
  })
}

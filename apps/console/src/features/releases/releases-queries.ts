import type { App, BodyOf, endpoints, Release } from '@keyward/contract'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

export function useVersionsInUse(id: string, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.app, id, 'versions'],
    queryFn: ({ signal }) => call(wire.exposure.versions, { params: { id }, signal }),
    enabled,
  })
}

export type ReleaseFields = BodyOf<typeof endpoints.releases.add>

interface SavedRelease {
  /** As the form showed it; undefined for a new one. */
  opened: Release | undefined
  /** All fields of a new one, else those that were changed. */
  body: ReleaseFields | Partial<ReleaseFields>
}

/** What the form showed of the values that it sends. */
const toSeen = (opened: Release, body: object) =>
  Object.fromEntries(Object.keys(body).map((name) => [name, opened[name as keyof Release]]))

export function useSaveRelease(app: App) {
  return useWrite({
    mutationFn: ({ opened, body }: SavedRelease) =>
      opened
        ? call(wire.releases.update, {
            params: { id: opened._id },
            body: { ...body, seen: toSeen(opened, body) },
          })
        : call(wire.releases.add, { params: { id: app._id }, body: body as ReleaseFields }),
    onSuccess: ({ release }, { opened }) =>
      toast.success(`Version ${release.version} ${opened ? 'changed' : 'added'}`),
    onError: (error) => toastFailure(error, 'Failed to save the release'),
  })
}

export function useWithdrawRelease() {
  return useWrite({
    mutationFn: (id: string) => call(wire.releases.withdraw, { params: { id } }),
    onSuccess: ({ release }) => toast.success(`Version ${release.version} withdrawn`),
    onError: (error) => toastFailure(error, 'Failed to withdraw the release'),
  })
}

export function useRemoveRelease() {
  return useWrite({
    mutationFn: (id: string) => call(wire.releases.remove, { params: { id } }),
    onError: (error) => toastFailure(error, 'Failed to remove the release'),
  })
}

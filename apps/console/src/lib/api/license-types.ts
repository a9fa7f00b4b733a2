import { useQuery } from '@tanstack/react-query'
import { call } from './call.ts'
import { keys } from './query-keys.ts'
import { wire } from './wire.ts'

/** The license types of an app, oldest first. */
export function useLicenseTypes(app: string | undefined) {
  return useQuery({
    queryKey: [...keys.licenseTypes, app],
    queryFn: async ({ signal }) =>
      (await call(wire.licenseTypes.list, { params: { id: app ?? '' }, signal })).licenseTypes,
    enabled: app !== undefined,
    staleTime: 10_000,
  })
}

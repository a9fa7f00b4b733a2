import { queryOptions, useQuery } from '@tanstack/react-query'
import { call } from './call.ts'
import { keys } from './query-keys.ts'
import { wire } from './wire.ts'

export const licenseTypesQuery = (app: string | undefined) =>
  queryOptions({
    queryKey: [...keys.licenseTypes, app],
    queryFn: async ({ signal }) =>
      (await call(wire.licenseTypes.list, { params: { id: app ?? '' }, signal })).licenseTypes,
    enabled: app !== undefined,
    staleTime: 10_000,
  })

/** The license types of an app, oldest first. */
export const useLicenseTypes = (app: string | undefined) => useQuery(licenseTypesQuery(app))

import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
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

const appsMost = 10

/** Loads the license types of the newest apps when the select opens; a value is `app/type`. */
export function useFindTypes(apps: readonly { _id: string; name: string }[]) {
  const client = useQueryClient()
  return useCallback(
    async (text: string) => {
      const some = apps.slice(0, appsMost)
      const types = await Promise.all(some.map(({ _id }) => client.fetchQuery(licenseTypesQuery(_id))))
      return some
        .flatMap((app, at) =>
          types[at]!.map(({ _id, name }) => ({ value: `${app._id}/${_id}`, label: `${name} · ${app.name}` })),
        )
        .filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
    },
    [apps, client],
  )
}

import { queryOptions, useQuery } from '@tanstack/react-query'
import { call } from './call.ts'
import { keys } from './query-keys.ts'
import { wire } from './wire.ts'

/** An event of a shop is not recorded before it is used, so no live event announces it. */
const calmMs = 15_000

export const shopsQuery = (app: string | undefined) =>
  queryOptions({
    queryKey: [...keys.shops, app],
    meta: { failure: 'Failed to load shops' },
    queryFn: async ({ signal }) => (await call(wire.shops.list, { params: { id: app ?? '' }, signal })).shops,
    enabled: app !== undefined,
    refetchInterval: calmMs,
  })

/** The shops of an app, oldest first. */
export const useShops = (app: string | undefined) => useQuery(shopsQuery(app))

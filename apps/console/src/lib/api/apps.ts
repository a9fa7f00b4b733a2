import type { App, DataOf, endpoints } from '@keyward/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { ApiError, call } from './call.ts'
import { keys } from './query-keys.ts'
import { ownerSession, useToken } from './session.ts'
import { wire } from './wire.ts'

export type AppPage = DataOf<typeof endpoints.apps.list>

const toApps = (page: AppPage): App[] => page.apps
const toCount = (page: AppPage): number => page.count

function useNewest<Data>(select: (page: AppPage) => Data) {
  const token = useToken(ownerSession)
  return useQuery({
    queryKey: keys.apps,
    meta: { failure: 'Failed to fetch apps' },
    queryFn: ({ signal }) => call(wire.apps.list, { signal }),
    enabled: token !== null,
    refetchOnWindowFocus: true,
    select,
  })
}

/** The vendor's newest apps: all of them, unless there is more than one page. */
export const useApps = () => useNewest(toApps)

export const useAppCount = () => useNewest(toCount).data

interface Found {
  app: App | undefined
  resolving: boolean
  /** The look-up that failed, so that `resolving` lasts. */
  unresolved?: UseQueryResult | undefined
}

/** An app by its `_id` or `appId`, even if it is not among the newest. */
export function useApp(id: string | undefined): Found {
  const { data: apps } = useApps()
  const count = useAppCount()
  const listed = apps?.find((app) => app._id === id || app.appId === id)
  const unlisted = id !== undefined && apps !== undefined && !listed && count !== apps.length
  const asked = useQuery({
    queryKey: [...keys.app, id],
    queryFn: async ({ signal }) => (await call(wire.apps.get, { params: { id: id ?? '' }, signal })).app,
    enabled: unlisted,
  })
  if (!unlisted) return { app: listed, resolving: false }
  const missing = asked.error instanceof ApiError && asked.error.status === 404
  // An app that could not be read again stays as it was.
  const resolving = !asked.data && !missing
  return { app: asked.data, resolving, unresolved: resolving && asked.isError ? asked : undefined }
}

/** The apps of rows, even those that are not among the newest: these are asked for one after the other. */
export function useAppsOf(rows: readonly { app: { _id: string } }[]): App[] {
  const { data: apps } = useApps()
  const count = useAppCount()
  const ids = new Set(rows.map(({ app }) => app._id))
  const listed = apps?.filter(({ _id }) => ids.has(_id)) ?? []
  for (const { _id } of listed) ids.delete(_id)
  const unlisted = [...ids].sort()
  const asked = useQuery({
    queryKey: [...keys.app, unlisted],
    queryFn: ({ signal }) => readApps(unlisted, signal),
    enabled: apps !== undefined && unlisted.length > 0 && count !== apps.length,
  })
  return [...listed, ...(asked.data ?? [])]
}

async function readApps(ids: readonly string[], signal: AbortSignal): Promise<App[]> {
  const apps: App[] = []
  for (const id of ids) {
    try {
      apps.push((await call(wire.apps.get, { params: { id }, signal })).app)
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error
    }
  }
  return apps
}

const found = 50

async function findApps(search: string): Promise<{ value: string; label: string }[]> {
  const { apps } = await call(wire.apps.list, { query: { search, limit: found } })
  return apps.map(({ _id, name }) => ({ value: _id, label: name }))
}

/** Searches all apps for a select; undefined while the newest apps are all apps. */
export function useFindApps(): typeof findApps | undefined {
  const { data: apps } = useApps()
  const count = useAppCount()
  return apps && count !== undefined && count > apps.length ? findApps : undefined
}

/** The apps as options of a select, including the selected one. */
export function toAppOptions(
  apps: readonly { _id: string; name: string }[],
  chosen?: { _id: string; name: string } | undefined,
) {
  const all = chosen && !apps.some(({ _id }) => _id === chosen._id) ? [chosen, ...apps] : apps
  return all.map(({ _id, name }) => ({ value: _id, label: name }))
}

/** A field that chooses all apps or some. */
export function useAppsField() {
  const apps = useApps().data ?? []
  return {
    label: 'Apps',
    words: { all: 'All apps', some: 'Some apps', add: 'Add an app' },
    options: toAppOptions(apps),
    find: useFindApps(),
  }
}

/** A select that filters by app; `chosen` is the selected app, which `apps` may not contain. */
export function useAppFilter(
  apps: readonly { _id: string; name: string }[],
  chosen: { _id: string; name: string } | undefined,
) {
  return { label: 'App', unset: 'All apps', options: toAppOptions(apps, chosen), find: useFindApps() }
}

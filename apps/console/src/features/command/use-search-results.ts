import type { Client, License } from '@keyward/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useFindApps } from '../../lib/api/apps.ts'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { type Command, toAppCommand } from './commands.ts'

const limit = 5
const debounceMs = 200

function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), text ? debounceMs : 0)
    return () => clearTimeout(timer)
  }, [text])
  return debounced
}

const searchUrl = (path: string, search: string) => `${path}?${new URLSearchParams({ search })}`

const toLicense = ({ _id, key, app, usedBy }: License): Command => ({
  id: _id,
  group: 'Licenses',
  label: key,
  detail: usedBy ? `${app.name} · ${usedBy.username}` : app.name,
  icon: 'license',
  to: searchUrl(paths.licenses, key),
})

const toEndUser = ({ _id, username, app }: Client): Command => ({
  id: _id,
  group: 'End users',
  label: username,
  detail: app.name,
  icon: 'user',
  to: searchUrl(paths.users, username),
})

/** Searches licenses, end users and apps on the server. */
export function useSearchResults(text: string, hasApps: boolean) {
  const search = useDebounced(text.trim())
  const enabled = hasApps && search.length > 1
  const query = { search, limit }
  const options = { enabled, staleTime: 5_000, placeholderData: keepPreviousData }
  const licenses = useQuery({
    queryKey: [...keys.licenses, 'found', query],
    queryFn: ({ signal }) => call(wire.licenses.list, { query, signal }),
    ...options,
  })
  const users = useQuery({
    queryKey: [...keys.clients, 'found', query],
    queryFn: ({ signal }) => call(wire.clients.list, { query, signal }),
    ...options,
  })
  const moreApps = useFindApps() !== undefined
  const apps = useQuery({
    queryKey: [...keys.apps, 'found', query],
    queryFn: ({ signal }) => call(wire.apps.list, { query, signal }),
    ...options,
    enabled: enabled && moreApps,
  })
  const active = hasApps && text.trim().length > 1
  return {
    commands: active
      ? [
          ...(apps.data?.apps.map(toAppCommand) ?? []),
          ...(licenses.data?.licenses.map(toLicense) ?? []),
          ...(users.data?.clients.map(toEndUser) ?? []),
        ]
      : [],
    searching:
      active && (search !== text.trim() || apps.isFetching || licenses.isFetching || users.isFetching),
    failed: active && (licenses.isError || users.isError),
  }
}

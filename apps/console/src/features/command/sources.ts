import type { Client, License, Reseller } from '@keyward/contract'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { type Wire, wire } from '../../lib/api/wire.ts'
import { licensePath, paths, userPath } from '../../lib/navigation/paths.ts'
import { type Command, toAppCommand } from './commands.ts'

interface Input {
  query: { search: string; limit: number }
  signal: AbortSignal
}

/** A list of the server that the palette searches. */
export interface Source {
  queryKey: readonly unknown[]
  call: Wire
  find: (input: Input) => Promise<Command[]>
  /** Skips this source while the console knows all apps. */
  appsOnly?: boolean
}

const toLicense = ({ _id, key, app, usedBy }: License): Command => ({
  id: _id,
  group: 'Licenses',
  label: key,
  detail: usedBy ? `${app.name} · ${usedBy.username}` : app.name,
  icon: 'license',
  to: licensePath(_id),
})

const toEndUser = ({ _id, username, app }: Client): Command => ({
  id: _id,
  group: 'End users',
  label: username,
  detail: app.name,
  icon: 'user',
  to: userPath(_id),
})

const toReseller = ({ _id, email, app_id: app }: Reseller): Command => ({
  id: _id,
  group: 'Resellers',
  label: email,
  detail: app.name,
  icon: 'reseller',
  to: `${paths.resellers}?${new URLSearchParams({ search: email })}`,
})

export const sources: readonly Source[] = [
  {
    queryKey: keys.apps,
    call: wire.apps.list,
    find: async (input) => (await call(wire.apps.list, input)).apps.map(toAppCommand),
    appsOnly: true,
  },
  {
    queryKey: keys.licenses,
    call: wire.licenses.list,
    find: async (input) => (await call(wire.licenses.list, input)).licenses.map(toLicense),
  },
  {
    queryKey: keys.clients,
    call: wire.clients.list,
    find: async (input) => (await call(wire.clients.list, input)).clients.map(toEndUser),
  },
  {
    queryKey: keys.resellers,
    call: wire.resellers.list,
    find: async (input) => (await call(wire.resellers.list, input)).resellers.map(toReseller),
  },
]

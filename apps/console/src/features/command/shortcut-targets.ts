import { type Wire, wire } from '../../lib/api/wire.ts'
import { callOfPage } from '../../lib/navigation/page-calls.ts'
import { paths } from '../../lib/navigation/paths.ts'

/** Whether the signed-in person may make these calls. */
export type May = (...calls: readonly Wire[]) => boolean

/** The dialog that the key `c` opens on each page, and the call that it makes. */
export const createDialogs: Record<string, { dialog: string; call: Wire }> = {
  [paths.dashboard]: { dialog: 'new-app', call: wire.apps.create },
  [paths.licenses]: { dialog: 'generate', call: wire.licenses.create },
  [paths.imports]: { dialog: 'new-import', call: wire.imports.create },
  [paths.users]: { dialog: 'create', call: wire.clients.createDirect },
  [paths.customers]: { dialog: 'create', call: wire.customers.create },
  [paths.resellers]: { dialog: 'create', call: wire.resellers.create },
  [paths.apiKeys]: { dialog: 'create', call: wire.apiKeys.create },
  [paths.integrations]: { dialog: 'create', call: wire.webhooks.create },
  [paths.members]: { dialog: 'invite', call: wire.members.invite },
}

/** Whether the person may open the page at a path. */
export function mayVisit(may: May, path: string): boolean {
  const call = callOfPage(path.replace(/[?#].*$/, ''))
  return call === undefined || may(call)
}

/** The pages that a key opens after `g`. */
export const goToKeys: Record<string, string> = {
  d: paths.dashboard,
  l: paths.licenses,
  u: paths.users,
  r: paths.resellers,
  s: paths.settings,
}

/** Pages that require an app. */
export const needApp: readonly string[] = [
  paths.licenses,
  paths.imports,
  paths.orders,
  paths.users,
  paths.activity,
  paths.resellers,
]

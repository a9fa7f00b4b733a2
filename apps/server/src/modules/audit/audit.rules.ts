import { type ActionName, actionLabels, actions, type Permission, readPermissionOf } from '@keyward/contract'

/** What the ids of subjects begin with, and the permission that reading the name of such an object needs. */
const kinds: Record<string, { kind: string; permission: Permission }> = {
  acc: { kind: 'account', permission: 'audit:read' },
  own: { kind: 'vendor', permission: 'audit:read' },
  key: { kind: 'api_key', permission: 'audit:read' },
  mem: { kind: 'member', permission: 'members:read' },
  app: { kind: 'app', permission: 'apps:read' },
  lty: { kind: 'license_type', permission: 'apps:read' },
  rel: { kind: 'release', permission: 'apps:read' },
  lic: { kind: 'license', permission: 'licenses:read' },
  usr: { kind: 'end_user', permission: 'clients:read' },
  dev: { kind: 'device', permission: 'clients:read' },
  cus: { kind: 'customer', permission: 'clients:read' },
  blk: { kind: 'block', permission: 'clients:read' },
  res: { kind: 'reseller', permission: 'resellers:read' },
  shp: { kind: 'shop', permission: 'apps:read' },
  sor: { kind: 'shop_order', permission: 'licenses:read' },
  whk: { kind: 'webhook', permission: 'webhooks:read' },
  ord: { kind: 'order', permission: 'billing:read' },
  pay: { kind: 'payment', permission: 'billing:read' },
}

const prefixOf = (id: string): string => id.slice(0, id.indexOf('_'))

/** What a subject is: by its id, or by the action if the id has no prefix. */
export const subjectKind = (id: string, action: string): string =>
  kinds[prefixOf(id)]?.kind ?? action.slice(0, action.indexOf('.'))

type May = (permission: Permission) => boolean

/** The ids whose names the caller may read, by their prefix. */
export const readableIds = (ids: Iterable<string>, may: May): Map<string, string[]> =>
  Map.groupBy(
    [...new Set(ids)].filter((id) => {
      const found = kinds[prefixOf(id)]
      return found !== undefined && may(found.permission)
    }),
    prefixOf,
  )

const names = Object.keys(actions) as ActionName[]

/** The actions whose details a caller may not read. */
export const hiddenActions = (may: May): ActionName[] => names.filter((name) => !may(readPermissionOf(name)))

/** The changes of an app itself, not of its licenses and people. */
export const appActions: readonly ActionName[] = names.filter(
  (name) => /^(app|license_type|release|block|shop)\./.test(name) && !name.includes('.slice_'),
)

/** The actions whose name or label contains a text, which is in lower case. */
export const actionsNamed = (text: string): ActionName[] =>
  names.filter((name) => name.includes(text) || actionLabels[name].toLowerCase().includes(text))

/** Where the detail names its subject. */
const nameFields: Record<string, string> = {
  app: 'name',
  license_type: 'name',
  api_key: 'name',
  member: 'email',
  release: 'version',
  block: 'value',
  webhook: 'origin',
  shop: 'name',
  shop_order: 'order',
  license: 'hint',
  reseller: 'email',
}

/** The records of deletions that say what the object was called. A deleted end user's name is nowhere. */
export const namingDeletions: ActionName[] = [
  'app.deleted',
  'license_type.deleted',
  'api_key.revoked',
  'member.removed',
  'release.removed',
  'block.removed',
  'webhook.deleted',
  'license.deleted',
  'reseller.deleted',
  'shop.deleted',
]

/** What the detail calls a subject that no longer exists. */
export function nameInDetail(kind: string, detail: Record<string, unknown> | null): string | null {
  const name = detail?.[nameFields[kind] ?? '']
  if (typeof name !== 'string') return null
  return kind === 'license' ? `${name}…` : name
}

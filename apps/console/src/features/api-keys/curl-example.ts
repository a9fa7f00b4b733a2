import type { Permission } from '@keyward/contract'

/** Calls that need one permission and nothing else. */
const reads: readonly [Permission, string][] = [
  ['licenses:read', '/licenses?limit=1'],
  ['apps:read', '/apps?limit=1'],
  ['clients:read', '/clients?limit=1'],
  ['resellers:read', '/resellers?limit=1'],
  ['settings:read', '/settings'],
  ['billing:read', '/subscription'],
]

/** A command that shows that a key works; undefined if the key may read nothing. */
export function toCurl(baseUrl: string, key: string, permissions: readonly Permission[]): string | undefined {
  const [, path] = reads.find(([permission]) => permissions.includes(permission)) ?? []
  return path && `curl '${baseUrl}/api${path}' \\\n  -H 'Authorization: Bearer ${key}'`
}

import type { MemberRole, Permission } from '@keyward/contract'
import { permissionsOf, type VendorActor } from '../../core/actor.ts'
import type { MemberRow } from '../../db/tables.ts'

/** What a member may do; `apps` are ids, or null for all. */
export interface Rights {
  role: MemberRole
  /** What the role `custom` may do; undefined for the others. */
  permissions?: readonly Permission[] | undefined
  apps: readonly string[] | null
}

/** Whether these rights exceed the actor's own; such rights cannot be granted. */
export function exceeds(
  actor: Pick<VendorActor, 'permissions' | 'apps'>,
  { role, permissions, apps }: Rights,
): boolean {
  const granted = [...permissionsOf(role, permissions)]
  if (granted.some((permission) => !actor.permissions.has(permission))) return true
  const own = actor.apps
  return own !== null && (apps === null || apps.some((id) => !own.has(id)))
}

type StoredRights = Pick<MemberRow, 'role' | 'permissions' | 'apps'>

/** Rights as a membership stores them. */
export const toStored = ({ role, permissions, apps }: Rights): StoredRights => ({
  role,
  permissions: permissions === undefined ? null : JSON.stringify(permissions),
  apps: apps === null ? null : JSON.stringify(apps),
})

export const fromStored = ({ role, permissions, apps }: StoredRights) => ({
  role,
  ...(permissions !== null && { permissions: JSON.parse(permissions) as Permission[] }),
  apps: apps === null ? null : (JSON.parse(apps) as string[]),
})

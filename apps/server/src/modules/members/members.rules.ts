import { type MemberRole, rolePermissions } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'

/** What a member may do; `apps` are ids, or null for all. */
export interface Rights {
  role: MemberRole
  apps: readonly string[] | null
}

/** Whether these rights exceed the actor's own; such rights cannot be granted. */
export function exceeds(actor: Pick<VendorActor, 'permissions' | 'apps'>, { role, apps }: Rights): boolean {
  if (rolePermissions[role].some((permission) => !actor.permissions.has(permission))) return true
  const own = actor.apps
  return own !== null && (apps === null || apps.some((id) => !own.has(id)))
}

/** Apps as a membership stores them. */
export const toStoredApps = (apps: readonly string[] | null): string | null =>
  apps === null ? null : JSON.stringify(apps)

export const fromStoredApps = (apps: string | null): string[] | null =>
  apps === null ? null : (JSON.parse(apps) as string[])

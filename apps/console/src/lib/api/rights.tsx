import type { Permission, User } from '@keyward/contract'
import { isGranted } from '@keyward/contract/permissions'
import { createContext, type ReactNode, use, useCallback } from 'react'
import type { Wire } from './wire.ts'

export type Rights = Pick<User, 'role' | 'permissions' | 'allApps'>

/** A call, or one in its form that `part` names: that deletes, that names an app, or that does all that needs more. */
export type Doing = Wire | { call: Wire; part: 'delete' | 'with app' | 'also' }

/** Whether the server lets a person with these rights make a call. */
export function mayDo(rights: Rights, doing: Doing): boolean {
  const [call, part] = 'call' in doing ? [doing.call, doing.part] : [doing, undefined]
  const { permission, allApps, deleting = [], also = [] } = call
  const has = (needed: Permission) => rights.permissions.includes(needed)
  if (allApps && !rights.allApps && !(allApps === 'without app' && part === 'with app')) return false
  const isDeletion = call.method === 'DELETE' || part === 'delete'
  if (isDeletion && !deleting.every(has)) return false
  if (part === 'also' && !also.flat().every(has)) return false
  if (permission === undefined) return true
  if (permission === 'api_key') return false
  return permission === 'ownership' ? rights.role === 'owner' : isGranted(permission, has)
}

const RightsContext = createContext<Rights>({ role: 'viewer', permissions: [], allApps: false })

export const RightsProvider = RightsContext.Provider

/** Whether the signed-in user may make all of these calls. The screen omits what they may not do. */
export function useMay() {
  const rights = use(RightsContext)
  return useCallback((...calls: readonly Doing[]) => calls.every((call) => mayDo(rights, call)), [rights])
}

/** Shows its children to people who may make this call. */
export function May({ call, children }: { call: Doing; children: ReactNode }) {
  return useMay()(call) ? children : null
}

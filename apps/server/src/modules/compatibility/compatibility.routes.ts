import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { getCompatibility, updateCompatibility } from './compatibility.service.ts'

export function compatibilityRoutes(mount: Mount, { compatibility: deps }: Parts): void {
  const calls = endpoints.compatibility
  mount(calls.get, 'owner', ({ actor, params }) => getCompatibility(deps, actor, params.id))
  mount(calls.update, 'owner', ({ actor, params, body }) => updateCompatibility(deps, actor, params.id, body))
}

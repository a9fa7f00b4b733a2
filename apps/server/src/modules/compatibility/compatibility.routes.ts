import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Compatibility } from './compatibility.mount.ts'
import { getCompatibility, updateCompatibility } from './compatibility.service.ts'

export function compatibilityRoutes(mount: Mount, deps: Pick<Compatibility, 'ctx' | 'seen'>): void {
  const { compatibility } = endpoints
  mount(compatibility.get, 'owner', ({ actor, params }) => getCompatibility(deps, actor, params.id))
  mount(compatibility.update, 'owner', ({ actor, params, body }) =>
    updateCompatibility(deps, actor, params.id, body),
  )
}

import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './lazy-move.service.ts'

export function lazyMoveRoutes(mount: Mount, parts: Parts): void {
  const { lazyMove } = endpoints
  mount(lazyMove.get, 'owner', ({ actor, params }) => service.getLazyMove(parts, actor, params.id))
  mount(lazyMove.update, 'owner', ({ actor, params, body }) =>
    service.updateLazyMove(parts, actor, params.id, body),
  )
}

import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './offline-activations.service.ts'

export function offlineActivationsRoutes(mount: Mount, deps: Parts): void {
  const { offlineActivations } = endpoints
  mount(offlineActivations.list, 'owner', ({ actor, params, query }) =>
    service.listActivations(deps, actor, params.id, query),
  )
  mount(offlineActivations.activate, 'owner', ({ actor, params, body }) =>
    service.activate(deps, actor, params.id, body),
  )
  mount(offlineActivations.deactivate, 'owner', ({ actor, params, body }) =>
    service.deactivate(deps, actor, params.id, body.code),
  )
}

import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './variables.service.ts'

export function variablesRoutes(mount: Mount, { ctx }: Parts): void {
  const { variables } = endpoints
  mount(variables.app, 'owner', ({ actor, params }) => service.getAppVariables(ctx, actor, params.id))
  mount(variables.setApp, 'owner', ({ actor, params, body }) =>
    service.setAppVariables(ctx, actor, params.id, body),
  )
  mount(variables.client, 'owner', ({ actor, params }) => service.getClientVariables(ctx, actor, params.id))
  mount(variables.setClient, 'owner', ({ actor, params, body }) =>
    service.setClientVariables(ctx, actor, params.id, body),
  )
}

import { endpoints } from '@keyward/contract'
import type { Ctx } from '../../core/ctx.ts'
import type { Mount } from '../../http/mount.ts'
import * as service from './variables.service.ts'

export function variablesRoutes(mount: Mount, ctx: Ctx): void {
  const { variables } = endpoints
  mount(variables.app, 'owner', async ({ actor, params }) => ({
    variables: await service.getAppVariables(ctx, actor, params.id),
  }))
  mount(variables.setApp, 'owner', async ({ actor, params, body }) => ({
    variables: await service.setAppVariables(ctx, actor, params.id, body.variables),
  }))
  mount(variables.client, 'owner', async ({ actor, params }) => ({
    variables: await service.getClientVariables(ctx, actor, params.id),
  }))
  mount(variables.setClient, 'owner', async ({ actor, params, body }) => ({
    variables: await service.setClientVariables(ctx, actor, params.id, body.variables),
  }))
}

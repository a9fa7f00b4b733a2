import { endpoints } from '@keyward/contract'
import { personOf } from '../../core/actor.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './api-keys.service.ts'

export function apiKeysRoutes(mount: Mount, { ctx }: Parts): void {
  const { apiKeys } = endpoints
  mount(apiKeys.list, 'owner', async ({ actor }) => ({
    apiKeys: await service.listApiKeys(ctx, actor),
  }))
  mount(apiKeys.current, 'owner', async ({ actor }) => ({
    apiKey: await service.getOwnApiKey(ctx, actor),
  }))
  mount(apiKeys.create, 'owner', ({ actor, body }) => service.createApiKey(ctx, personOf(actor), body))
  mount(apiKeys.revoke, 'owner', async ({ actor, params }) => {
    await service.revokeApiKey(ctx, personOf(actor), params.id)
    return {}
  })
}

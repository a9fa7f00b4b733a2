import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './signing-keys.service.ts'

export function signingKeysRoutes(mount: Mount, { ctx }: Parts): void {
  const { signingKeys } = endpoints
  mount(signingKeys.list, 'owner', async ({ actor, params }) => ({
    signingKeys: await service.listSigningKeys(ctx, actor, params.id),
  }))
  mount(signingKeys.create, 'owner', async ({ actor, params }) => ({
    signingKeys: await service.createSigningKey(ctx, actor, params.id),
  }))
  mount(signingKeys.promote, 'owner', async ({ actor, params }) => ({
    signingKeys: await service.promoteSigningKey(ctx, actor, params.id, params.kid),
  }))
  mount(signingKeys.revoke, 'owner', async ({ actor, params }) => ({
    signingKeys: await service.revokeSigningKey(ctx, actor, params.id, params.kid),
  }))
}

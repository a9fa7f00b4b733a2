import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './blocklist.service.ts'

export function blocklistRoutes(mount: Mount, { ctx }: Parts): void {
  const { blocklist } = endpoints
  mount(blocklist.list, 'owner', ({ actor, params, query }) =>
    service.listBlocks(ctx, actor, params.id, query),
  )
  mount(blocklist.add, 'owner', async ({ actor, params, body }) => ({
    block: await service.addBlock(ctx, actor, params.id, body),
  }))
  mount(blocklist.remove, 'owner', async ({ actor, params }) => {
    await service.removeBlock(ctx, actor, params.id)
    return {}
  })
  mount(blocklist.hashes, 'owner', async ({ actor, params }) => ({
    hashes: await service.getHashes(ctx, actor, params.id),
  }))
  mount(blocklist.setHashes, 'owner', async ({ actor, params, body }) => ({
    hashes: await service.setHashes(ctx, actor, params.id, body),
  }))
}

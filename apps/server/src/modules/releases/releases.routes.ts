import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './releases.service.ts'

export function releasesRoutes(mount: Mount, { ctx }: Parts): void {
  const { releases } = endpoints
  mount(releases.list, 'owner', async ({ actor, params }) => ({
    releases: await service.listReleases(ctx, actor, params.id),
  }))
  mount(releases.add, 'owner', async ({ actor, params, body }) => ({
    release: await service.addRelease(ctx, actor, params.id, body),
  }))
  mount(releases.update, 'owner', async ({ actor, params, body }) => ({
    release: await service.updateRelease(ctx, actor, params.id, body),
  }))
  mount(releases.withdraw, 'owner', async ({ actor, params }) => ({
    release: await service.withdrawRelease(ctx, actor, params.id),
  }))
  mount(releases.remove, 'owner', async ({ actor, params }) => {
    await service.removeRelease(ctx, actor, params.id)
    return {}
  })
}

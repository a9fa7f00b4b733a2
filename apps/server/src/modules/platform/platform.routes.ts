import { endpoints } from '@keyward/contract'
import { personOf } from '../../core/actor.ts'
import { WithMessage } from '../../core/answers.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as overview from './apps-overview.service.ts'
import * as service from './platform.service.ts'

export function platformRoutes(mount: Mount, parts: Parts): void {
  const { ctx } = parts
  const { apps, settings } = endpoints
  mount(settings.get, 'owner', ({ actor }) => service.getSettings(ctx.db, actor))
  mount(settings.update, 'owner', async ({ actor, body }) => {
    const updated = await service.updateSettings(ctx, actor, body)
    return new WithMessage(updated, 'Settings updated successfully')
  })
  mount(settings.reset, 'owner', async ({ actor, body, address }) => {
    await service.resetPlatform(parts, personOf(actor), { ...body, address })
    return new WithMessage({}, 'Platform data has been reset successfully')
  })
  mount(apps.remove, 'owner', async ({ actor, params }) => {
    await overview.deleteApp(parts, actor, params.id)
    return new WithMessage({}, 'App and all associated data deleted successfully')
  })
  mount(apps.deletionPreview, 'owner', async ({ actor, params }) => ({
    willDelete: await overview.deletionPreview(ctx, actor, params.id),
  }))
  mount(apps.stats, 'owner', async ({ actor, params, query }) => ({
    stats: await overview.appStats(ctx, actor, params.id, query.banned),
    sdks: await overview.appSdks(ctx, actor, params.id),
  }))
}

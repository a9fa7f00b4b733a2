import { endpoints } from '@keyward/contract'
import { WithMessage } from '../../core/answers.ts'
import type { Attempts } from '../../core/attempts.ts'
import type { Ctx } from '../../core/ctx.ts'
import type { Mount } from '../../http/mount.ts'
import * as service from './platform.service.ts'

export function settingsRoutes(mount: Mount, ctx: Ctx, attempts: Attempts): void {
  const { settings } = endpoints
  mount(settings.get, 'owner', ({ actor }) => service.getSettings(ctx.db, actor))
  mount(settings.update, 'owner', async ({ actor, body }) => {
    const updated = await service.updateSettings(ctx, actor, body)
    return new WithMessage(updated, 'Settings updated successfully')
  })
  mount(settings.reset, 'owner', async ({ actor, body, address }) => {
    await service.resetPlatform(ctx, attempts, actor, { ...body, address })
    return new WithMessage({}, 'Platform data has been reset successfully')
  })
}

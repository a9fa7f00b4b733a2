import { endpoints } from '@keyward/contract'
import type { Attempts } from '../../core/attempts.ts'
import type { Ctx } from '../../core/ctx.ts'
import type { Mount } from '../../http/mount.ts'
import * as service from './auth.service.ts'

export function authRoutes(mount: Mount, ctx: Ctx, attempts: Attempts): void {
  const { auth } = endpoints
  mount(auth.register, 'public', ({ body, address }) => service.register(ctx, attempts, { ...body, address }))
  mount(auth.login, 'public', ({ body, address }) => service.login(ctx, attempts, { ...body, address }))
  mount(auth.profile, 'owner', async ({ actor }) => ({ user: await service.getUser(ctx, actor) }))
  mount(auth.logout, 'owner', async ({ actor }) => {
    await service.logout(ctx, actor)
    return {}
  })
  mount(auth.changePassword, 'owner', async ({ actor, body, address }) => ({
    token: await service.changePassword(ctx, attempts, actor, { ...body, address }),
  }))
  mount(auth.changeEmail, 'owner', async ({ actor, body, address }) => ({
    user: await service.changeEmail(ctx, attempts, actor, { ...body, address }),
  }))
}

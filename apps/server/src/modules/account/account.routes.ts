import { endpoints } from '@keyward/contract'
import { personOf } from '../../core/actor.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as reset from './account.reset.ts'
import * as service from './account.service.ts'
import { getUser } from './account.view.ts'

export function accountRoutes(mount: Mount, { ctx, attempts, resets }: Parts): void {
  const { auth } = endpoints
  mount(auth.register, 'public', ({ body, address }) => service.register(ctx, attempts, { ...body, address }))
  mount(auth.login, 'public', ({ body, address }) => service.login(ctx, attempts, { ...body, address }))
  mount(auth.forgotPassword, 'public', async ({ body, address }) => {
    await resets.request('owner', { ...body, address })
    return {}
  })
  mount(auth.resetPassword, 'public', ({ body, address }) =>
    reset.resetPassword(ctx, resets, { ...body, address }),
  )
  mount(auth.profile, 'owner', async ({ actor }) => ({ user: await getUser(ctx, actor) }))
  mount(auth.logout, 'owner', async ({ actor }) => {
    await service.logout(ctx, personOf(actor))
    return {}
  })
  mount(auth.changePassword, 'owner', async ({ actor, body, address }) => ({
    token: await service.changePassword(ctx, attempts, personOf(actor), { ...body, address }),
  }))
  mount(auth.changeEmail, 'owner', async ({ actor, body, address }) => ({
    user: await service.changeEmail(ctx, attempts, personOf(actor), { ...body, address }),
  }))
}

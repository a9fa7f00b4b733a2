import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './profiles.service.ts'

export function profilesRoutes(mount: Mount, { ctx }: Parts): void {
  const { profiles } = endpoints
  mount(profiles.get, 'owner', ({ actor }) => service.getProfile(ctx, actor))
  mount(profiles.update, 'owner', ({ actor, body }) => service.updateProfile(ctx, actor, body))
  mount(profiles.getOfApp, 'owner', ({ actor, params }) => service.getProfile(ctx, actor, params.id))
  mount(profiles.updateOfApp, 'owner', ({ actor, params, body }) =>
    service.updateProfile(ctx, actor, body, params.id),
  )
}

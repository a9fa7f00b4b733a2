import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './exposure.service.ts'

export function exposureRoutes(mount: Mount, { ctx }: Parts): void {
  const { exposure } = endpoints
  mount(exposure.versions, 'owner', ({ actor, params }) => service.versionsInUse(ctx, actor, params.id))
}

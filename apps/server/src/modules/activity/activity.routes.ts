import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Ctx } from '../../service/ctx.ts'
import { listActivity } from './activity.service.ts'

export function activityRoutes(mount: Mount, ctx: Ctx): void {
  mount(endpoints.activity.list, 'owner', ({ actor, query }) => listActivity(ctx, actor, query))
}

import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './dashboard.service.ts'

export function dashboardRoutes(mount: Mount, { ctx }: Parts): void {
  const { dashboard } = endpoints
  mount(dashboard.data, 'owner', ({ actor, query }) => service.dashboardData(ctx, actor, query.banned))
  mount(dashboard.activity, 'owner', async ({ actor, query }) => ({
    days: await service.activity(ctx, actor, query.app),
  }))
}

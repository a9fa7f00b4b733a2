import { endpoints } from '@keyward/contract'
import { personOf } from '../../core/actor.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { listAttention } from './attention.service.ts'
import * as service from './dashboard.service.ts'

export function dashboardRoutes(mount: Mount, { ctx, backups }: Parts): void {
  const { dashboard } = endpoints
  mount(dashboard.data, 'owner', ({ actor, query }) => service.dashboardData(ctx, actor, query.banned))
  mount(dashboard.attention, 'owner', async ({ actor }) => ({
    attention: await listAttention(ctx, personOf(actor), { backupsFail: backups.isFailing }),
    sendsMail: ctx.config.smtpUrl !== undefined,
  }))
  mount(dashboard.activity, 'owner', async ({ actor, query }) => ({
    days: await service.activity(ctx, actor, query.app),
  }))
}

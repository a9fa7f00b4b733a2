import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './sales.service.ts'

export function salesRoutes(mount: Mount, { ctx }: Parts): void {
  const { sales } = endpoints
  mount(sales.get, 'owner', ({ actor, query }) => service.getSales(ctx, actor, query))
  mount(sales.export, 'owner', ({ actor, query }) => service.exportSales(ctx, actor, query))
}

import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { eraseCustomer } from './customer-records.erasure.ts'
import { exportCustomer } from './customer-records.export.ts'
import * as service from './customer-records.service.ts'

export function customerRecordsRoutes(mount: Mount, parts: Parts): void {
  const { ctx } = parts
  const { customers } = endpoints
  mount(customers.list, 'owner', ({ actor, query }) => service.listCustomers(ctx, actor, query))
  mount(customers.create, 'owner', async ({ actor, body }) => ({
    customer: await service.createCustomer(ctx, actor, body),
  }))
  mount(customers.get, 'owner', ({ actor, params }) => service.getCustomer(ctx, actor, params.id))
  mount(customers.update, 'owner', async ({ actor, params, body }) => ({
    customer: await service.changeCustomer(ctx, actor, params.id, body),
  }))
  mount(customers.remove, 'owner', async ({ actor, params }) => {
    await eraseCustomer(parts, actor, params.id)
    return {}
  })
  mount(customers.export, 'owner', ({ actor, params }) => exportCustomer(ctx, actor, params.id))
}

import { endpoints, exposedCustomerExport } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import { toFile } from '../bulk/export.file.ts'
import type { Parts } from '../module.ts'
import { signEvidence } from './evidence.ts'
import * as service from './exposure.service.ts'
import { notifyCustomers } from './notify.ts'

export function exposureRoutes(mount: Mount, parts: Parts): void {
  const { ctx } = parts
  const { exposure } = endpoints
  mount(exposure.versions, 'owner', ({ actor, params }) => service.versionsInUse(ctx, actor, params.id))
  mount(exposure.refused, 'owner', async ({ actor, params, query }) => ({
    devices: await service.countRefused(ctx, actor, params.id, query.minimumVersion),
  }))
  mount(exposure.get, 'owner', ({ actor, params }) => service.readExposure(ctx, actor, params.id))
  mount(exposure.customers, 'owner', ({ actor, params, query }) =>
    service.listExposedCustomers(ctx, actor, params.id, query),
  )
  mount(exposure.exportCustomers, 'owner', async ({ actor, params, query: { format } }) => {
    const slices = await service.exportExposedCustomers(ctx, actor, params.id)
    const file = { name: 'exposed-customers', format, columns: exposedCustomerExport, now: ctx.clock.now() }
    return toFile(slices, file)
  })
  mount(exposure.notify, 'owner', ({ actor, params, body }) => notifyCustomers(ctx, actor, params.id, body))
  mount(exposure.evidence, 'owner', ({ actor, params }) => signEvidence(parts, actor, params.id))
}

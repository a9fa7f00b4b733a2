import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './license-types.service.ts'

export function licenseTypesRoutes(mount: Mount, { ctx }: Parts): void {
  const { licenseTypes } = endpoints
  mount(licenseTypes.list, 'owner', async ({ actor, params }) => ({
    licenseTypes: await service.listCountedTypes(ctx, actor, params.id),
  }))
  mount(licenseTypes.create, 'owner', async ({ actor, params, body }) => ({
    licenseType: await service.createLicenseType(ctx, actor, params.id, body),
  }))
  mount(licenseTypes.update, 'owner', ({ actor, params, body: { applyTo, seen, ...changes } }) =>
    service.updateLicenseType(ctx, actor, params.id, changes, { applyTo, seen }),
  )
  mount(licenseTypes.remove, 'owner', async ({ actor, params }) => {
    await service.deleteLicenseType(ctx, actor, params.id)
    return {}
  })
}

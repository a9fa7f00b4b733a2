import { byId } from '../description.ts'
import type { Module } from '../module.ts'
import { licenseTypesRoutes } from './license-types.routes.ts'
import { listLicenseTypes } from './license-types.service.ts'

export const licenseTypes: Module = {
  tables: {
    license_types: {},
  },
  objects: {
    license_type: async ({ ctx, maker, id, appId }) => byId(await listLicenseTypes(ctx, maker, appId), id),
  },
  names: {
    lty: {
      kind: 'license_type',
      permission: 'apps:read',
      column: ['license_types', 'name'],
      inDetail: 'name',
      deletion: 'license_type.deleted',
      isOfApp: true,
    },
  },
  routes: licenseTypesRoutes,
}

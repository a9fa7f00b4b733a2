import type { Module } from '../module.ts'
import { licenseTypesRoutes } from './license-types.routes.ts'

export const licenseTypes: Module = {
  tables: {
    license_types: {},
  },
  routes: licenseTypesRoutes,
}

import type { Module } from '../module.ts'
import { resellersRoutes } from './resellers.routes.ts'

export const resellers: Module = {
  tables: {
    resellers: { key: ['id'], isOfApp: true },
  },
  routes: resellersRoutes,
}

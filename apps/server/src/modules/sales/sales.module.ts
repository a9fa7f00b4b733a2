import type { Module } from '../module.ts'
import { salesRoutes } from './sales.routes.ts'

export const sales: Module = {
  tables: {
    sale_entries: { key: ['order_id', 'place'], isOfApp: true },
    sales: { key: ['app_id', 'minutes', 'at', 'currency', 'shop_id', 'product', 'kind'], isOfApp: true },
  },
  routes: salesRoutes,
}

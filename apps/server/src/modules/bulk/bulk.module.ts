import type { Module } from '../module.ts'
import { bulkRoutes } from './bulk.routes.ts'

export const bulk: Module = {
  routes: bulkRoutes,
}

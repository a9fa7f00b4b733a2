import type { Module } from '../module.ts'
import { dashboardRoutes } from './dashboard.routes.ts'

export const dashboard: Module = {
  routes: dashboardRoutes,
}

import type { Module } from '../module.ts'
import { appsRoutes } from './apps.routes.ts'

export const apps: Module = {
  routes: appsRoutes,
}

import type { Module } from '../module.ts'
import { licensesRoutes } from './licenses.routes.ts'

export const licenses: Module = {
  routes: licensesRoutes,
}

import type { Module } from '../module.ts'
import { platformRoutes } from './platform.routes.ts'

export const platform: Module = {
  routes: platformRoutes,
}

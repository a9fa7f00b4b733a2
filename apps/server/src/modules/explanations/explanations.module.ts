import type { Module } from '../module.ts'
import { explanationsRoutes } from './explanations.routes.ts'

export const explanations: Module = {
  routes: explanationsRoutes,
}

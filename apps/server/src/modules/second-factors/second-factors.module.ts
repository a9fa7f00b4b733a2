import type { Module } from '../module.ts'
import { secondFactorRoutes } from './second-factors.routes.ts'

export const secondFactors: Module = {
  routes: secondFactorRoutes,
}

import type { Module } from '../module.ts'
import { exposureRoutes } from './exposure.routes.ts'
import { keepExposedDays } from './exposure.service.ts'

export const exposure: Module = {
  tidy: keepExposedDays,
  routes: exposureRoutes,
}

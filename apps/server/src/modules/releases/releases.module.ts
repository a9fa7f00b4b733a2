import type { Module } from '../module.ts'
import { releasesRoutes } from './releases.routes.ts'

export const releases: Module = {
  tables: {
    releases: {},
  },
  routes: releasesRoutes,
}

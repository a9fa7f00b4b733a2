import type { Module } from '../module.ts'
import { profilesRoutes } from './profiles.routes.ts'

export const profiles: Module = {
  tables: {
    profiles: {},
  },
  routes: profilesRoutes,
}

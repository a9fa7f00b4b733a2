import type { Module } from '../module.ts'
import { platformRoutes } from './platform.routes.ts'
import { getSettings } from './platform.service.ts'

export const platform: Module = {
  objects: {
    settings: ({ ctx, maker }) => getSettings(ctx.db, maker),
    platform: null,
  },
  routes: platformRoutes,
}

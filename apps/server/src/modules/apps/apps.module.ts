import type { Module } from '../module.ts'
import { appsRoutes } from './apps.routes.ts'
import { secretContext, signingContext } from './apps.service.ts'

export const apps: Module = {
  tables: {
    apps: { key: ['id'], sealed: { secret_sealed: secretContext, signing_sealed: signingContext } },
    app_messages: {},
    app_sdks: {},
  },
  routes: appsRoutes,
}

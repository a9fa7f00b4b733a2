import type { Module } from '../module.ts'
import { appsRoutes } from './apps.routes.ts'
import { readApp, secretContext, signingContext } from './apps.service.ts'

export const apps: Module = {
  tables: {
    apps: { key: ['id'], sealed: { secret_sealed: secretContext, signing_sealed: signingContext } },
    app_messages: {},
    app_sdks: {},
  },
  objects: {
    // A receiver may store events anywhere, so they never contain the secret. People with permission read it by the API.
    app: async ({ ctx, maker, id }) => ({ ...(await readApp(ctx, maker, id)), appSecret: null }),
  },
  names: {
    app: { kind: 'app', permission: 'apps:read', inDetail: 'name', deletion: 'app.deleted', isOfApp: true },
  },
  routes: appsRoutes,
}

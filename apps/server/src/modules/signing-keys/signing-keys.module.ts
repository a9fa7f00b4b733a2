import { signingContext } from '../apps/apps.service.ts'
import type { Module } from '../module.ts'
import { signingKeysRoutes } from './signing-keys.routes.ts'

export const signingKeys: Module = {
  tables: {
    signing_keys: {
      key: ['kid'],
      needs: ['app_id'],
      sealed: { sealed: (_kid, { app_id }) => signingContext(String(app_id)) },
    },
  },
  routes: signingKeysRoutes,
}

import type { Module } from '../module.ts'
import { removeAppFromApiKeys } from './api-keys.access.ts'
import { apiKeysRoutes } from './api-keys.routes.ts'

export const apiKeys: Module = {
  tables: {
    api_keys: {},
  },
  forgetApp: ({ tx }, scope, appId) => removeAppFromApiKeys(tx, scope, appId),
  routes: apiKeysRoutes,
}

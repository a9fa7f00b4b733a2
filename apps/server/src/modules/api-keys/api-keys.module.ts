import { byId } from '../description.ts'
import type { Module } from '../module.ts'
import { removeAppFromApiKeys } from './api-keys.access.ts'
import { apiKeysRoutes } from './api-keys.routes.ts'
import { listApiKeys } from './api-keys.service.ts'

export const apiKeys: Module = {
  tables: {
    api_keys: {},
  },
  forgetApp: ({ tx }, scope, appId) => removeAppFromApiKeys(tx, scope, appId),
  objects: {
    // Only the owner may list them.
    api_key: async ({ ctx, maker, id }) =>
      maker.isOwner && maker.kind !== 'api_key' ? byId(await listApiKeys(ctx, maker), id) : undefined,
    api_keys: null,
  },
  names: {
    key: { kind: 'api_key', permission: 'audit:read', inDetail: 'name', deletion: 'api_key.revoked' },
  },
  routes: apiKeysRoutes,
}

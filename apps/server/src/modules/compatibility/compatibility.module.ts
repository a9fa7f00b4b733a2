import type { Module } from '../module.ts'
import { startCompatibility } from './compatibility.mount.ts'
import { loseKey } from './compatibility.repo.ts'
import { compatibilityRoutes } from './compatibility.routes.ts'
import { keyContext, secretContext } from './compatibility.rules.ts'

export const compatibility: Module = {
  tables: {
    compatibility: { key: ['app_id'], sealed: { secret_sealed: secretContext, key_sealed: keyContext } },
    compatibility_programs: { key: ['app_id', 'program'], expires: 'expires_at', isOfApp: true },
    compatibility_names: {},
  },
  loseKey,
  parts: ({ ctx, program: { calls }, consoleUrl, onError }) => ({
    compatibility: startCompatibility({ ctx, calls, consoleUrl, onError }),
  }),
  routes: compatibilityRoutes,
  install: async (server, { compatibility, floods }) => {
    await server.register(async (scope) => compatibility.mount(scope, floods))
  },
  flush: ({ compatibility }) => compatibility.close(),
}

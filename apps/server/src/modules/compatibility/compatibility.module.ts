import type { Module } from '../module.ts'
import { startCompatibility } from './compatibility.mount.ts'
import { compatibilityRoutes } from './compatibility.routes.ts'

export const compatibility: Module = {
  parts: ({ ctx, program: { calls }, consoleUrl, onError }) => ({
    compatibility: startCompatibility({ ctx, calls, consoleUrl, onError }),
  }),
  routes: compatibilityRoutes,
  install: async (server, { compatibility, floods }) => {
    await server.register(async (scope) => compatibility.mount(scope, floods))
  },
  flush: ({ compatibility }) => compatibility.close(),
}

import type { Module } from '../module.ts'
import { portalHolders } from './portal.factors.ts'
import { toResetRequest } from './portal.reset.ts'
import { portalRoutes } from './portal.routes.ts'
import { portalSessionsRoutes } from './portal-sessions.routes.ts'

export const portal: Module = {
  parts: ({ ctx, resets }) => ({
    resellerRequests: toResetRequest(ctx),
    resellerHolders: portalHolders(ctx, resets),
  }),
  routes: (mount, parts) => {
    portalRoutes(mount, parts)
    portalSessionsRoutes(mount, parts)
  },
}

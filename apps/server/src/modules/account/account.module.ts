import type { Module } from '../module.ts'
import { accountHolders } from './account.factors.ts'
import { toResetRequest } from './account.reset.ts'
import { accountRoutes } from './account.routes.ts'
import { getUser } from './account.view.ts'
import { accountSessionsRoutes } from './account-sessions.routes.ts'
import { vendorsRoutes } from './vendors.routes.ts'

export const account: Module = {
  objects: { owner: null, vendor: null },
  parts: ({ ctx, resets }) => ({
    readUser: (actor) => getUser(ctx, actor),
    ownerRequests: toResetRequest(ctx),
    accountHolders: accountHolders(ctx, resets),
  }),
  routes: (mount, parts) => {
    accountRoutes(mount, parts)
    accountSessionsRoutes(mount, parts)
    vendorsRoutes(mount, parts)
  },
}

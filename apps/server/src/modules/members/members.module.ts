import type { Module } from '../module.ts'
import { removeAppFromMembers } from './members.access.ts'
import { membersRoutes } from './members.routes.ts'

export const members: Module = {
  tables: {
    members: {},
  },
  forgetApp: ({ tx }, scope, appId) => removeAppFromMembers(tx, scope, appId),
  routes: membersRoutes,
}

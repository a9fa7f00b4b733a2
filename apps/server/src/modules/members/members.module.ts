import { byId } from '../description.ts'
import type { Module } from '../module.ts'
import { removeAppFromMembers } from './members.access.ts'
import { membersRoutes } from './members.routes.ts'
import { listMembers } from './members.service.ts'

export const members: Module = {
  tables: {
    members: {},
  },
  forgetApp: ({ tx }, scope, appId) => removeAppFromMembers(tx, scope, appId),
  objects: {
    member: async ({ ctx, maker, id }) => byId(await listMembers(ctx, maker), id),
  },
  names: {
    mem: { kind: 'member', permission: 'members:read', inDetail: 'email', deletion: 'member.removed' },
  },
  routes: membersRoutes,
}

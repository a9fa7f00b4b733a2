import { inSlices } from '../../db/index.ts'
import { byId, type ReadObject } from '../description.ts'
import type { Module } from '../module.ts'
import { listEndUserDevices } from './end-users.devices.ts'
import { forgetEmail, forgetUsername } from './end-users.erasure.ts'
import { endUsersRoutes } from './end-users.routes.ts'
import { getEndUser } from './end-users.service.ts'

const readEndUser: ReadObject = ({ ctx, maker, id }) => getEndUser(ctx, maker, id)

export const endUsers: Module = {
  tables: {
    deleted_files: { key: ['id'], expires: 'expires_at', isOfApp: true },
  },
  erasure: {
    person: (ctx, actor, { email }) =>
      inSlices(ctx, actor, async (write, size) => ({ found: await forgetEmail(write, actor, email, size) })),
    last: (write, actor, { email }) => forgetUsername(write, actor, email),
  },
  objects: {
    end_user: readEndUser,
    program: readEndUser,
    device: async ({ ctx, maker, id, detail }) =>
      byId((await listEndUserDevices(ctx, maker, String(detail.endUserId))).devices, id),
    // They concern many objects.
    end_users: null,
  },
  names: { usr: { kind: 'end_user', permission: 'clients:read', column: ['clients', 'username'] } },
  routes: endUsersRoutes,
}

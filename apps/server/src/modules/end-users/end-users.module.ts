import type { Module } from '../module.ts'
import { endUsersRoutes } from './end-users.routes.ts'

export const endUsers: Module = {
  tables: {
    deleted_files: { key: ['id'], expires: 'expires_at', isOfApp: true },
  },
  routes: endUsersRoutes,
}

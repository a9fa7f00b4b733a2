import type { Module } from '../module.ts'
import { endUsersRoutes } from './end-users.routes.ts'

export const endUsers: Module = {
  routes: endUsersRoutes,
}

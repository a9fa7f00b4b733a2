import type { Module } from '../module.ts'
import { membersRoutes } from './members.routes.ts'

export const members: Module = {
  routes: membersRoutes,
}

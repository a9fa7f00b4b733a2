import type { Module } from '../module.ts'
import { resellersRoutes } from './resellers.routes.ts'

export const resellers: Module = {
  routes: resellersRoutes,
}

import type { Module } from '../module.ts'
import { apiKeysRoutes } from './api-keys.routes.ts'

export const apiKeys: Module = {
  routes: apiKeysRoutes,
}

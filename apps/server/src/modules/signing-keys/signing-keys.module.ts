import type { Module } from '../module.ts'
import { signingKeysRoutes } from './signing-keys.routes.ts'

export const signingKeys: Module = {
  routes: signingKeysRoutes,
}

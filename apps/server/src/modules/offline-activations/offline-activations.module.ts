import type { Module } from '../module.ts'
import { offlineActivationsRoutes } from './offline-activations.routes.ts'

export const offlineActivations: Module = {
  routes: offlineActivationsRoutes,
}

import type { Module } from '../module.ts'
import { offlineActivationsRoutes } from './offline-activations.routes.ts'

export const offlineActivations: Module = {
  tables: {
    offline_activations: {},
  },
  routes: offlineActivationsRoutes,
}

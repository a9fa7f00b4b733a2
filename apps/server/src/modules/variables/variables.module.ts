import type { Module } from '../module.ts'
import { variablesRoutes } from './variables.routes.ts'

export const variables: Module = {
  routes: variablesRoutes,
}

import type { Module } from '../module.ts'
import { loseKey } from './variables.repo.ts'
import { variablesRoutes } from './variables.routes.ts'
import { contextOfApp, contextOfClient } from './variables.service.ts'

export const variables: Module = {
  tables: {
    app_variables: { key: ['app_id'], sealed: { sealed: contextOfApp } },
    client_variables: { key: ['client_id'], sealed: { sealed: contextOfClient } },
  },
  loseKey,
  routes: variablesRoutes,
}

import type { Module } from '../module.ts'
import { appMailsRoutes } from './app-mails.routes.ts'

export const appMails: Module = {
  tables: {
    app_mails: {},
    buyer_mails: {},
  },
  routes: appMailsRoutes,
}

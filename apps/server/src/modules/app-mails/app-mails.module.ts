import type { Module } from '../module.ts'
import { appMailsRoutes } from './app-mails.routes.ts'

export const appMails: Module = {
  routes: appMailsRoutes,
}

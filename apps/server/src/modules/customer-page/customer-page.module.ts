import type { Module } from '../module.ts'
import { sendLink } from './customer-mails.ts'
import { customerPageRoutes } from './customer-page.routes.ts'

export const customerPage: Module = {
  parts: (parts) => ({ sendLink: (...asked) => sendLink(parts, ...asked) }),
  routes: customerPageRoutes,
}

import type { Module } from '../module.ts'
import { notificationsRoutes } from './notifications.routes.ts'
import { startNotifications } from './notifications.scan.ts'

export const notifications: Module = {
  routes: notificationsRoutes,
  work: (parts) => startNotifications(parts.ctx, parts, parts.options.remindersAfterMs),
}

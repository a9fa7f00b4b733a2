import type { Module } from '../module.ts'
import { notificationsRoutes } from './notifications.routes.ts'
import { startNotifications } from './notifications.scan.ts'

export const notifications: Module = {
  tables: {
    notification_settings: {},
    notification_scans: {},
    notification_marks: {},
  },
  objects: { notifications: null },
  routes: notificationsRoutes,
  work: (parts) => startNotifications(parts.ctx, parts, parts.options.remindersAfterMs),
}

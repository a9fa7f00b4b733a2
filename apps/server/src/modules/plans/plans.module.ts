import { minute, second } from '../../core/clock.ts'
import { schedule } from '../../core/queues/schedule.ts'
import type { Module } from '../module.ts'
import { plansRoutes } from './plans.routes.ts'
import { queueReminders, tidyReminders } from './reminders.service.ts'

export const plans: Module = {
  tables: {
    plan_reminders: {},
  },
  tidy: tidyReminders,
  routes: plansRoutes,
  work: ({ ctx, onError, options: { remindersAfterMs: firstMs = 30 * second } }) =>
    schedule((signal) => queueReminders(ctx, signal), { everyMs: 10 * minute, firstMs, onError }),
}

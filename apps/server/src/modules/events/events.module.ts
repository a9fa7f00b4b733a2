import type { Module } from '../module.ts'
import { eventsRoutes } from './events.routes.ts'
import { createEvents } from './events.service.ts'

export const events: Module = {
  parts: ({ ctx, onError, options: { heartbeatMs } }) => ({
    events: createEvents(ctx, { onError, heartbeatMs }),
  }),
  routes: eventsRoutes,
  consume: ({ events }) => events.publish,
}

import { system } from '../../core/actor.ts'
import type { Module } from '../module.ts'
import { forgetEvents } from './activity.erasure.ts'
import { ActivityLog } from './activity.log.ts'
import { tidyActivity } from './activity.service.ts'

export const activity: Module = {
  tables: {
    activity: { key: ['seq'], isOfApp: true },
    activity_shares: {},
  },
  tidy: tidyActivity,
  erasure: { written: forgetEvents },
  parts: (parts) => ({
    activity: new ActivityLog({
      clock: parts.ctx.clock,
      write: (work) => parts.ctx.tx(system, ({ tx }) => work(tx)),
      alsoWrite: (tx, rows) => parts.queueRefusals(tx, rows),
      onWritten: (apps) => {
        parts.events.notifyActivity(apps)
        parts.wake('webhooks')
      },
      onError: parts.onError,
    }),
  }),
  consumeOfPrograms: ({ activity }) => activity.consume.bind(activity),
  flush: ({ activity }) => activity.close(),
}

import { system } from '../../core/actor.ts'
import type { Module } from '../module.ts'
import { ActivityLog } from './activity.log.ts'

export const activity: Module = {
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
  consume: ({ activity }, records) => activity.consume(records),
  flush: ({ activity }) => activity.close(),
}

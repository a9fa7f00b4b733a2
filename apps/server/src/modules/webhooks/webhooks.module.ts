import { minute } from '../../core/clock.ts'
import { schedule } from '../../core/one-at-a-time.ts'
import type { Module } from '../module.ts'
import { pauseFullWebhooks } from './webhooks.pauses.ts'
import { queueRefusals } from './webhooks.refusals.ts'
import { webhooksRoutes } from './webhooks.routes.ts'
import { createWebhookRunner } from './webhooks.worker.ts'

export const webhooks: Module = {
  parts: ({ ctx, outbound, onError, consoleUrl, options }) => ({
    webhooks: createWebhookRunner({
      ...{ ctx, parts: { outbound }, onError, consoleUrl },
      ...{ times: options.webhookTimes, pollMs: options.deliveriesEveryMs },
    }),
    queueRefusals,
  }),
  routes: webhooksRoutes,
  queues: { webhooks: ({ webhooks, options }) => options.deliversWebhooks !== false && webhooks.wake() },
  work: (parts) => {
    const { webhooks, onError, options } = parts
    if (options.deliversWebhooks !== false) webhooks.start()
    const endPauses = schedule(() => pauseFullWebhooks(parts), { everyMs: 10 * minute, onError })
    return () => Promise.all([endPauses(), webhooks.end()])
  },
}

import { minute } from '../../core/clock.ts'
import { schedule } from '../../core/queues/schedule.ts'
import { byId } from '../description.ts'
import type { Module } from '../module.ts'
import { loseKey, removeAppFromWebhooks, tidyWebhooks } from './webhooks.access.ts'
import { forgetInDeliveries } from './webhooks.erasure.ts'
import { pauseFullWebhooks } from './webhooks.pauses.ts'
import { queueRefusals } from './webhooks.refusals.ts'
import { webhooksRoutes } from './webhooks.routes.ts'
import { listWebhooks, secretContext, urlContext } from './webhooks.service.ts'
import { createWebhookRunner } from './webhooks.worker.ts'

export const webhooks: Module = {
  tables: {
    webhooks: {
      key: ['id'],
      sealed: { url_sealed: urlContext, secret_sealed: secretContext, previous_sealed: secretContext },
    },
    webhook_deliveries: { key: ['seq'], expires: 'expires_at' },
  },
  loseKey,
  tidy: tidyWebhooks,
  forgetApp: (write, scope, appId) => removeAppFromWebhooks(write.tx, scope, appId, write.now),
  erasure: { written: (ctx, actor, { texts }) => forgetInDeliveries(ctx, actor, texts) },
  objects: {
    webhook: async ({ ctx, maker, id }) => {
      const webhook = byId(await listWebhooks(ctx, maker), id)
      // Its path can hold a token, which is no business of the receivers of other webhooks.
      return webhook && { ...webhook, url: new URL(webhook.url).origin }
    },
  },
  names: {
    whk: { kind: 'webhook', permission: 'webhooks:read', inDetail: 'origin', deletion: 'webhook.deleted' },
  },
  parts: ({ ctx, modules, outbound, onError, consoleUrl, options }) => ({
    webhooks: createWebhookRunner({
      ...{ ctx, modules, parts: { outbound }, onError, consoleUrl },
      ...{ times: options.webhookTimes, pollMs: options.deliveriesEveryMs },
    }),
    queueRefusals,
  }),
  routes: webhooksRoutes,
  queues: ({ webhooks, options }) =>
    options.deliversWebhooks === false ? {} : { webhooks: webhooks.wake.bind(webhooks) },
  work: (parts) => {
    const { webhooks, onError, options } = parts
    if (options.deliversWebhooks !== false) webhooks.start()
    const endPauses = schedule(() => pauseFullWebhooks(parts), { everyMs: 10 * minute, onError })
    return () => Promise.all([endPauses(), webhooks.end()])
  },
}

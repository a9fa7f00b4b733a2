import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as deliveries from './deliveries.service.ts'
import * as service from './webhooks.service.ts'

export function webhooksRoutes(mount: Mount, parts: Parts): void {
  const { ctx } = parts
  const { webhooks } = endpoints
  mount(webhooks.list, 'owner', async ({ actor }) => ({
    webhooks: await service.listWebhooks(ctx, actor),
  }))
  mount(webhooks.create, 'owner', ({ actor, body }) => service.createWebhook(parts, actor, body))
  mount(webhooks.update, 'owner', async ({ actor, params, body }) => ({
    webhook: await service.updateWebhook(parts, actor, params.id, body),
  }))
  mount(webhooks.delete, 'owner', async ({ actor, params }) => {
    await service.deleteWebhook(ctx, actor, params.id)
    return {}
  })
  mount(webhooks.rotateSecret, 'owner', async ({ actor, params }) => ({
    secret: await service.rotateSecret(ctx, actor, params.id),
  }))
  mount(webhooks.test, 'owner', async ({ actor, params }) => ({
    delivery: await deliveries.testWebhook(ctx, actor, params.id),
  }))
  mount(webhooks.deliveries, 'owner', ({ actor, params, query }) =>
    deliveries.listDeliveries(ctx, actor, params.id, query),
  )
  mount(webhooks.delivery, 'owner', async ({ actor, params }) => ({
    delivery: await deliveries.getDelivery(ctx, actor, params.id, params.deliveryId),
  }))
  mount(webhooks.retry, 'owner', async ({ actor, params }) => ({
    delivery: await deliveries.retryDelivery(ctx, actor, params.id, params.deliveryId),
  }))
}

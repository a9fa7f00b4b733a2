import { endpoints } from '@keyward/contract'
import { meets } from '../../core/actor.ts'
import type { Input, Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { admitHook, receiveEvent } from './hooks.service.ts'
import { mailAgain } from './orders.mail.ts'
import * as orders from './orders.service.ts'
import { addressOrder } from './orders.service.ts'
import * as service from './shops.service.ts'

export function shopsRoutes(mount: Mount, parts: Parts): void {
  const { ctx } = parts
  const calls = endpoints.shops
  mount(calls.list, 'owner', async ({ actor, params }) => ({
    shops: await service.listShops(ctx, actor, params.id),
  }))
  mount(calls.create, 'owner', async ({ actor, params, body }) => ({
    shop: await service.createShop(ctx, actor, params.id, body),
  }))
  mount(calls.update, 'owner', async ({ actor, params, body }) => ({
    shop: await service.updateShop(ctx, actor, params.id, body),
  }))
  mount(calls.remove, 'owner', async ({ actor, params }) => {
    await service.deleteShop(ctx, actor, params.id)
    return {}
  })
  mount(calls.test, 'owner', async ({ actor, params }) => ({
    order: await service.testShop(ctx, actor, params.id),
  }))
  mount(endpoints.orders.list, 'owner', ({ actor, query }) => orders.listOrders(ctx, actor, query))
  mount(endpoints.orders.retry, 'owner', async ({ actor, params, body }) => ({
    order: await orders.retryOrder(ctx, actor, params.id, body),
  }))
  mount(endpoints.orders.update, 'owner', async ({ actor, params, body }) => {
    await addressOrder(ctx, actor, params.id, body.email)
    return { order: await orders.getOrder(ctx, actor, params.id) }
  })
  mount(endpoints.orders.mail, 'owner', async ({ actor, params }) => {
    await mailAgain(parts, actor, params.id)
    const read = await orders.getOrder(ctx, actor, params.id)
    // As the call has left it, also for a repeat: it may have been sent meanwhile.
    const order = { ...read, mail: read.mail === 'waiting' ? read.mail : ('queued' as const) }
    const isReadable = meets(actor, { anyOf: ['licenses:read', 'licenses:write'] })
    return { order: isReadable ? order : { ...order, email: null, name: null, licenses: [], renewed: null } }
  })
  const receive = async ({ params, sent, address }: Input<typeof endpoints.hooks.receive>) => {
    await receiveEvent(parts, { ...sent, id: params.id, address })
    return {}
  }
  mount(endpoints.hooks.receive, 'public', receive, ({ params, address }) =>
    admitHook(parts, { ...(params as { id: string }), address }),
  )
}

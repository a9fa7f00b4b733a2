import { limits } from '@keyward/contract'
import { system, type VendorActor } from '../../core/actor.ts'
import { inSlices } from '../../db/index.ts'
import { gateOf } from '../../http/flood-gate.ts'
import type { Module } from '../module.ts'
import { watchEnds } from './ended-orders.worker.ts'
import { orderMails } from './orders.mail.ts'
import { countEarlier } from './orders.sales.ts'
import { getOrder } from './orders.service.ts'
import { eraseBodies } from './shop-events.repo.ts'
import { createShopRunner } from './shop-events.worker.ts'
import { forgetBuyer, forgetWaiting } from './shops.erasure.ts'
import { loseKey, shopKeyContext, shopSecretContext } from './shops.repo.ts'
import { shopsRoutes } from './shops.routes.ts'
import { getShop } from './shops.service.ts'
import { createWaitingMails } from './waiting-mails.ts'

const ordersMost = 10_000

const withoutSecrets = ({ permissions }: VendorActor) =>
  new Set([...permissions].filter((permission) => permission !== 'secrets:read'))

export const shops: Module = {
  tables: {
    shops: { key: ['id'], sealed: { secret_sealed: shopSecretContext, api_key_sealed: shopKeyContext } },
    shop_events: { key: ['seq'], isOfApp: true },
    shop_order_units: { key: ['order_id', 'product', 'unit'], isOfApp: true },
    shop_orders: { key: ['seq'], isOfApp: true },
  },
  loseKey,
  // Old bodies of events.
  tidy: (ctx) =>
    inSlices(ctx, system, async ({ tx, now }, size) => ({ found: await eraseBodies(tx, now, size) })),
  erasure: {
    person: async (ctx, actor, buyer) => {
      await forgetWaiting(ctx, actor, buyer.email)
      await inSlices(ctx, actor, async (write, size) => ({
        found: await forgetBuyer(write, actor, buyer, size),
      }))
    },
    // Orders that have arrived meanwhile.
    late: (write, actor, buyer) => forgetBuyer(write, actor, buyer, ordersMost),
  },
  objects: {
    // As for an app: whoever may read the secret in it looks it up.
    shop: ({ ctx, maker, id }) => getShop(ctx, { ...maker, permissions: withoutSecrets(maker) }, id),
    shop_order: ({ ctx, maker, id }) => getOrder(ctx, maker, id),
  },
  mails: { sor: orderMails },
  names: {
    shp: {
      kind: 'shop',
      permission: 'apps:read',
      column: ['shops', 'name'],
      inDetail: 'name',
      deletion: 'shop.deleted',
      isOfApp: true,
    },
    sor: {
      kind: 'shop_order',
      permission: 'licenses:read',
      column: ['shop_orders', 'number'],
      inDetail: 'order',
    },
  },
  parts: ({ ctx, outbound, onError, options: { deliveriesEveryMs: pollMs, shopLeaseMs: leaseMs } }) => {
    const max = limits.hookEventsPerMinute
    const gate = (most: number) => gateOf(ctx.config, most)
    return {
      hookGates: { events: gate(max), requests: gate(2 * max), refused: gate(max) },
      shopEvents: createShopRunner({ ctx, outbound, onError, pollMs, leaseMs }),
      waitingMails: createWaitingMails(ctx, { onError, pollMs }),
    }
  },
  routes: shopsRoutes,
  queues: ({ shopEvents, waitingMails }) => ({
    'shop events': shopEvents.wake.bind(shopEvents),
    'waiting mails': waitingMails.wake,
  }),
  work: ({ ctx, onError, shopEvents, waitingMails, options: { deliveriesEveryMs: pollMs } }) => {
    shopEvents.start()
    waitingMails.start()
    const endWatch = watchEnds(ctx, { onError, pollMs })
    let isEnding = false
    const counting = countEarlier(ctx, () => isEnding).catch(onError)
    return async () => {
      isEnding = true
      await counting
      await endWatch()
      await shopEvents.end()
      await waitingMails.end()
    }
  },
}

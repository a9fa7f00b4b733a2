import { byId } from '../description.ts'
import type { Module } from '../module.ts'
import { getOwner } from '../owners/owners.service.ts'
import { startReconciler } from './payments.pipeline.ts'
import { usualWaits } from './payments.provider.ts'
import { paymentsRoutes } from './payments.routes.ts'
import { createProvider, listPayments } from './payments.service.ts'
import { getSubscription } from './subscription.service.ts'

export const payments: Module = {
  tables: {
    coupons: {},
    payment_orders: {},
    payments: {},
  },
  objects: {
    plan: async ({ ctx, maker }) => getSubscription(ctx, await getOwner(ctx.db, maker)),
    payment: async ({ ctx, maker, id }) => byId(await listPayments(ctx.db, maker), id),
    order: null,
  },
  names: {
    ord: { kind: 'order', permission: 'billing:read' },
    pay: { kind: 'payment', permission: 'billing:read' },
  },
  parts: ({ ctx, onError, options: { providerWaits: waits = usualWaits } }) => ({
    payments: { ctx, waits, provider: createProvider(ctx.config, waits), onError },
  }),
  routes: paymentsRoutes,
  work: ({ payments, options }) => startReconciler(payments, options.reconcileAfterMs),
}

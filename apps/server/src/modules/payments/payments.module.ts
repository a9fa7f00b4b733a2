import type { Module } from '../module.ts'
import { startReconciler } from './payments.pipeline.ts'
import { usualWaits } from './payments.provider.ts'
import { paymentsRoutes } from './payments.routes.ts'
import { createProvider } from './payments.service.ts'

export const payments: Module = {
  tables: {
    coupons: {},
    payment_orders: {},
    payments: {},
  },
  parts: ({ ctx, onError, options: { providerWaits: waits = usualWaits } }) => ({
    payments: { ctx, waits, provider: createProvider(ctx.config, waits), onError },
  }),
  routes: paymentsRoutes,
  work: ({ payments, options }) => startReconciler(payments, options.reconcileAfterMs),
}

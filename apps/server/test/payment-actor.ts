import type { AddressInfo } from 'node:net'
import type { Order, Payment, Subscription } from '@keyward/contract'
import { type Checkout, type PaymentStandIn, startPaymentStandIn } from '@keyward/payment-stand-in'
import { expect } from 'vitest'
import type { AppOptions } from '../src/app-options.ts'
import { createSeal } from '../src/core/crypto.ts'
import { Passwords } from '../src/core/passwords/passwords.ts'
import { reconcile } from '../src/modules/payments/payments.pipeline.ts'
import type { Payments, ProviderWaits } from '../src/modules/payments/payments.provider.ts'
import { createProvider } from '../src/modules/payments/payments.service.ts'
import type { Owner } from './actors.ts'
import { startServer, type TestServer, transactionsOn } from './harness.ts'

const keys = {
  keyId: 'rzp_test_keyward',
  keySecret: 'EnLs21M47BllR3X8PSFtjtbd',
  webhookSecret: 'a secret of webhooks alone',
}

/** Long enough for any slow machine; tests of a silent provider set their own. */
export const patientWaits: ProviderWaits = { callMs: 60_000, eventMs: 60_000 }

/** A server with payments on, and its stand-in provider. */
export interface PayingServer {
  on: TestServer
  provider: PaymentStandIn
  /** Runs what the server schedules every minute. */
  reconcile(): Promise<void>
  close(): Promise<void>
}

export async function startPaying(
  environment: Record<string, string> = {},
  options: Partial<AppOptions> = {},
): Promise<PayingServer> {
  const provider = await startPaymentStandIn({ ...keys, webhookTimeoutMs: patientWaits.eventMs + 60_000 })
  const waits = options.providerWaits ?? patientWaits
  const on = await startServer(
    {
      PAYMENTS: 'razorpay',
      RAZORPAY_KEY_ID: keys.keyId,
      RAZORPAY_KEY_SECRET: keys.keySecret,
      RAZORPAY_WEBHOOK_SECRET: keys.webhookSecret,
      RAZORPAY_API_URL: provider.url,
      ...environment,
    },
    { ...options, providerWaits: waits },
  )
  await on.server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = on.server.server.address() as AddressInfo
  provider.setWebhookUrl(`http://127.0.0.1:${port}/api/payments/razorpay/webhook`)
  const { config, database, clock } = on
  const payments: Payments = {
    ctx: {
      config,
      database,
      clock,
      db: database.db,
      seal: createSeal(config.secretKey ?? ''),
      passwords: new Passwords(),
      vpn: { isLoaded: false, has: () => false },
      tx: transactionsOn(database, clock),
    },
    waits,
    provider: createProvider(config, waits),
    onError: () => {},
  }
  return {
    on,
    provider,
    reconcile: () => reconcile(payments),
    async close() {
      await provider.close()
      await on.close()
    },
  }
}

export async function placeOrder(owner: Owner, body: object = {}): Promise<Order> {
  const { status, json } = await owner.call('POST', '/payments/razorpay/create-order', body)
  expect(status).toBe(200)
  return json.data
}

export const report = (owner: Owner, checkout: Partial<Checkout>, more: object = {}) =>
  owner.call('POST', '/payments/razorpay/verify', { ...checkout, ...more })

/** Orders, pays and reports the payment. */
export async function buy({ provider }: PayingServer, owner: Owner, body: object = {}): Promise<Checkout> {
  const checkout = provider.pay((await placeOrder(owner, body)).orderId)
  expect((await report(owner, checkout)).status).toBe(200)
  return checkout
}

export const subscriptionOf = async (owner: Owner): Promise<Subscription> =>
  (await owner.call('GET', '/subscription')).json.data.subscription

export const historyOf = async (owner: Owner): Promise<Payment[]> =>
  (await owner.call('GET', '/payments/history')).json.data.payments

/** Counts how often a payment started premium for an owner. */
export async function activationsOf(on: TestServer, owner: Owner): Promise<number> {
  const rows = await on.database.db
    .selectFrom('audit')
    .select('id')
    .where('owner_id', '=', owner.id)
    .where('action', '=', 'plan.paid')
    .execute()
  return rows.length
}

import { createHmac, randomBytes } from 'node:crypto'
import type { APIRequestContext } from '@playwright/test'
import { expect } from './keyward.ts'
import { type App, unique, type Vendor } from './steps.ts'

/** A shop of the vendor's own, which sends events as Standard Webhooks defines it. */
export interface OwnShop {
  hook: string
  secret: string
}

export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

export async function addShop(
  vendor: Vendor,
  app: App,
  products: { product: string; type: string | null }[] = [],
) {
  const secret = newSecret()
  const { shop } = await vendor.call('POST', `/apps/${app._id}/shops`, {
    kind: 'custom',
    name: 'Corner Shop',
    secret,
    products,
  })
  return { ...(shop as { _id: string; name: string; hook: string }), secret }
}

export interface Sale {
  order: string
  product: string
  email?: string
  amount?: number
  currency?: string
}

/** Sends a paid order to the hook. */
export async function sell(request: APIRequestContext, { hook, secret }: OwnShop, sale: Sale) {
  const { order, product, email = 'buyer@example.com', ...rest } = sale
  const at = new Date()
  const body = JSON.stringify({
    type: 'order.paid',
    timestamp: at.toISOString(),
    data: { order, email, lines: [{ product, quantity: 1 }], ...rest },
  })
  const id = unique('event')
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const answer = await request.post(hook, {
    data: body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    },
  })
  expect(answer.status(), await answer.text()).toBe(200)
}

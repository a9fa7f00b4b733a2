import { randomBytes, randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

export const newShopSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

export interface SoldEvent {
  id?: string
  type: string
  timestamp?: string
  data: object
}

/** The request of a shop by the library of Standard Webhooks. */
export function signedRequest(secret: string, event: SoldEvent, at: Date) {
  const { id = `msg_${randomUUID()}`, ...body } = event
  const payload = JSON.stringify(body)
  const signature = new Webhook(secret).sign(id, at, payload)
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  }
  return { payload, headers }
}

export const paid = (order: string, wanted: object = {}): SoldEvent => ({
  type: 'order.paid',
  data: { order, email: 'ada@example.com', lines: [{ product: 'pro', quantity: 1 }], ...wanted },
})

import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import type { TestServer } from './harness.ts'
import { startShopHost, stripeKey } from './shop-host.ts'

export const stripeSecret = 'whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH'

export const startStripe = () =>
  startShopHost({ apiKey: stripeKey, headers: { 'stripe-version': '2024-06-20' } })

let events = 0
/** Sends an event as Stripe does. */
export async function sendStripe(
  on: TestServer,
  hook: string,
  type: string,
  object: object,
  { id = `evt_${++events}`, previous }: { id?: string; previous?: object } = {},
): Promise<void> {
  const created = Math.floor(on.clock.now() / 1000)
  const data = { object, ...(previous && { previous_attributes: previous }) }
  const payload = JSON.stringify({ id, object: 'event', type, created, livemode: true, data })
  const signature = createHmac('sha256', stripeSecret).update(`${created}.${payload}`).digest('hex')
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature': `t=${created},v1=${signature},v0=${signature}`,
  }
  expect((await on.server.inject({ method: 'POST', url: hook, payload, headers })).statusCode).toBe(200)
}

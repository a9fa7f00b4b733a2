import { randomUUID } from 'node:crypto'
import type { APIRequestContext } from '@playwright/test'
import { expect } from '@playwright/test'
import { newShopSecret, paid, type SoldEvent, signedRequest } from '../apps/server/test/shop-events.ts'
import type { App, Vendor } from './steps.ts'

/** A vendor's own shop, which sells its products as license types. */
export class Shop {
  private readonly request: APIRequestContext
  private readonly hook: string
  private readonly secret: string

  private constructor(request: APIRequestContext, hook: string, secret: string) {
    this.request = request
    this.hook = hook
    this.secret = secret
  }

  /** Each product is sold as a license type with these terms. */
  static async open(request: APIRequestContext, vendor: Vendor, app: App, products: Record<string, object>) {
    const sold = []
    for (const [product, terms] of Object.entries(products)) {
      const type = { name: product, term: 'forever', ...terms }
      const { licenseType } = await vendor.call('POST', `/apps/${app._id}/license-types`, type)
      sold.push({ product, type: licenseType._id })
    }
    const secret = newShopSecret()
    const wanted = { kind: 'custom', name: 'My shop', secret, products: sold }
    const { shop } = await vendor.call('POST', `/apps/${app._id}/shops`, wanted)
    return new Shop(request, shop.hook, secret)
  }

  /** Sends a signed event, as the shop does. */
  async send(event: SoldEvent) {
    const { payload, headers } = signedRequest(this.secret, event, new Date())
    const answer = await this.request.post(this.hook, { data: payload, headers })
    expect(answer.status()).toBe(200)
  }

  /** A customer buys a product, by a link with a reference or without one; returns the number of the order. */
  async buy(email: string, product: string, more: { reference?: string } = {}): Promise<string> {
    const order = `order-${randomUUID()}`
    await this.send(paid(order, { email, name: 'Ada Buyer', lines: [{ product, quantity: 1 }], ...more }))
    return order
  }

  /** Tells something about an order. */
  tell(type: string, order: string, more: object = {}) {
    return this.send({ type, timestamp: new Date().toISOString(), data: { order, ...more } })
  }
}

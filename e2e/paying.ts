import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { checkoutScript } from '@keyward/payment-stand-in'
import type { Page } from '@playwright/test'
import { test as base, type Keyward, paymentKeys } from './keyward.ts'
import type { Vendor } from './steps.ts'

const script = 'https://checkout.razorpay.com/v1/checkout.js'
const api = 'https://api.razorpay.com'

/** A server with payments and a stand-in of the provider, whose checkout opens on the page. */
export const test = base.extend({
  environment: async ({ provider }, use) =>
    use({
      PAYMENTS: 'razorpay',
      RAZORPAY_KEY_ID: paymentKeys.keyId,
      RAZORPAY_KEY_SECRET: paymentKeys.keySecret,
      RAZORPAY_WEBHOOK_SECRET: paymentKeys.webhookSecret,
      RAZORPAY_API_URL: provider.url,
    }),
  page: async ({ page, provider, keyward }, use) => {
    provider.setWebhookUrl(`${keyward.url}/api/payments/razorpay/webhook`)
    await serveCheckout(page)
    await page.route(`${api}/**`, async (route) => {
      const asked = route.request()
      const answer = await fetch(`${provider.url}${new URL(asked.url()).pathname}`, {
        method: asked.method(),
        headers: { 'content-type': 'application/json' },
        body: asked.postData(),
      })
      await route.fulfill({
        status: answer.status,
        headers: { 'access-control-allow-origin': '*', 'content-type': 'application/json' },
        body: await answer.text(),
      })
    })
    await use(page)
    provider.clearFaults()
  },
})

/** The Content-Security-Policy allows the provider's script, and calls only to the provider. */
export const serveCheckout = (page: Page) =>
  page.route(script, (route) => route.fulfill({ contentType: 'text/javascript', body: checkoutScript(api) }))

export const blockCheckout = (page: Page) => page.route(script, (route) => route.abort())

/** How often the page requested the provider's script. */
export function countScripts(page: Page) {
  let calls = 0
  page.on('request', (request) => {
    if (request.url() === script) calls += 1
  })
  return () => calls
}

export const checkoutOf = (page: Page) => page.getByRole('dialog', { name: 'Stand-in checkout' })

export const activated = 'Subscription activated successfully!'
export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
export const inCheckout = (page: Page, name: string) =>
  checkoutOf(page).getByRole('button', { name, exact: true }).click()

/** Sets the end of premium. */
export function endPremium(keyward: Keyward, vendor: Vendor, at: Date) {
  const database = new DatabaseSync(join(keyward.dataDir, 'keyward.db'), { timeout: 5000 })
  database
    .prepare(
      'update owners set premium_until = ? where account_id = (select id from accounts where email = ?)',
    )
    .run(at.getTime(), vendor.email)
  database.close()
}

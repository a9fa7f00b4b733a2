import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import { enter, Program, settle, unique } from '../steps.ts'

test('no table cuts off content at 1280 pixels, even with long names', async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  const app = await vendor.createApp('An application with quite a long name')
  const [license] = await vendor.createLicenses(app)
  await vendor.call('POST', '/licenses', {
    app: app._id,
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    note: 'A note that goes on for longer than its place in the table is wide',
  })
  const username = unique('somebody-with-a-long-name')
  await (await Program.start(request, app)).register(username, license!, 'a-machine')
  const credentials = await createReseller(vendor, app, 10_000)
  const seller = await Seller.signIn(request, credentials)
  const [sold] = await seller.generate(3)
  await (await Program.start(request, app)).register(unique('another-with-a-long-name'), sold!)

  await enter(page, vendor, '/dashboard')
  for (const path of ['/dashboard', '/resellers', '/licenses', '/users', '/subscription']) {
    await expectWhole(page, path)
  }
  await enterPortal(page, seller)
  await expectWhole(page, '/reseller/licenses')
})

async function expectWhole(page: Page, path: string) {
  await page.goto(path)
  await settle(page)
  const tables = page.locator('div:has(> table)')
  const hidden = await tables.evaluateAll((boxes) => boxes.map((box) => box.scrollWidth - box.clientWidth))
  expect.soft(hidden, path).toEqual(hidden.map(() => 0))
  // Names may have an ellipsis, but dates may not.
  const dates = page.locator('td time')
  const cut = await dates.evaluateAll((found) =>
    found
      .map((date) => date.parentElement!)
      .filter((line) => line.scrollWidth > line.clientWidth)
      .map((line) => line.textContent),
  )
  expect.soft(cut, path).toEqual([])
}

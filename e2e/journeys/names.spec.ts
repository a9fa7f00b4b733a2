import type { Locator } from '@playwright/test'
import { expectToFit } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { appTabs } from '../pages.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import {
  enter,
  figure,
  makePremium,
  Program,
  row,
  rowAction,
  settle,
  unique,
  Vendor,
  visit,
} from '../steps.ts'

test('an app name of one long word fits every page of the portal', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor } = await premiumVendor(request, keyward)
  const app = await vendor.createApp('W'.repeat(80))
  const seller = await Seller.signIn(request, await createReseller(vendor, app))
  await seller.generate(2)
  await enterPortal(page, seller)
  for (const path of ['/reseller/dashboard', '/reseller/licenses', '/reseller/profile']) {
    await visit(page, path)
    await expect(figure(page, path.endsWith('profile') ? 'Remaining' : 'Total Generated')).toBeVisible()
    await expectToFit(page, path)
  }
})

test('long names fit every page 320 px wide and at 200 % zoom', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const long = 'W'.repeat(60)
  const vendor = await Vendor.signUp(request, long, `${long}@${unique('long')}.example`)
  makePremium(keyward, vendor)
  const app = await vendor.createApp(long)
  const [license] = await vendor.createLicenses(app)
  await (await Program.start(request, app)).register(long, license!)
  await enter(page, vendor, '/settings')
  const seller = await Seller.signIn(request, await createReseller(vendor, app))
  await seller.generate(2)
  // Zoomed to 200 %, a window of 1280 px has the layout of 640 px.
  const widths = [320, 640]
  const expectAllToFit = async (paths: string[]) => {
    for (const path of paths) {
      await visit(page, path)
      await expect(page.getByRole('heading', { level: 1, includeHidden: true })).toBeVisible()
      await settle(page)
      for (const width of widths) {
        await page.setViewportSize({ width, height: 800 })
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
        await expectToFit(page, `${path} at ${width}`)
      }
    }
  }
  await expectAllToFit([
    '/dashboard',
    '/resellers',
    '/licenses',
    '/users',
    '/profile',
    '/settings',
    '/subscription',
    '/about',
    '/auth/forgot',
    '/no-such-page',
    `/apps/${app._id}`,
    ...appTabs.map((tab) => `/apps/${app._id}?tab=${tab}`),
    '/licenses?dialog=generate',
  ])
  await enterPortal(page, seller)
  await expectAllToFit(['/reseller/dashboard', '/reseller/licenses', '/reseller/profile'])
})

test('a table shows how a name begins, also one from right to left, and all of it in a tooltip', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  const names = ['تطبيق إدارة التراخيص للمطورين الطويل جدا', 'An application with quite a long name']
  for (const name of names) {
    const app = await vendor.createApp(name)
    await createReseller(vendor, app)
    await vendor.createLicenses(app)
    await vendor.createEndUser(app, 'somebody')
  }
  await enter(page, vendor)
  for (const path of ['/resellers', '/licenses', '/users']) {
    await visit(page, path)
    for (const name of names) {
      const cell = row(page, name).getByTitle(name, { exact: true })
      const beginsInside = await cell.evaluate((node) => {
        const first = node.ownerDocument.createRange()
        first.setStart(node.firstChild!, 0)
        first.setEnd(node.firstChild!, 1)
        const [letter, box] = [first.getBoundingClientRect(), node.getBoundingClientRect()]
        return letter.left >= box.left - 1 && letter.right <= box.right + 1
      })
      expect.soft(beginsInside, `${path}: ${name}`).toBe(true)
    }
  }
})

test('a name that another user chose is isolated in the list of licenses and in every dialog', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const [license] = await vendor.createLicenses(app)
  const name = 'אבג'
  await (await Program.start(request, app)).register(name, license!)
  await enter(page, vendor, '/licenses')
  const act = (action: string) =>
    page
      .getByRole('region', { name: 'Selected rows' })
      .getByRole('button', { name: action, exact: true })
      .click()
  const isolated = (within: Locator) => within.locator('bdi', { hasText: name })
  await expect(isolated(row(page, name))).toHaveCount(1)
  await row(page, name)
    .getByRole('button', { name: /^Actions for/ })
    .click()
  await page.getByRole('menuitem', { name: 'Delete License' }).click()
  await expect(isolated(page.getByRole('alertdialog'))).toHaveCount(1)
  await page.keyboard.press('Escape')
  await row(page, name).getByRole('checkbox').check()
  for (const action of ['Ban', 'Delete']) {
    await act(action)
    await expect(isolated(page.getByRole('alertdialog'))).toHaveCount(1)
    await page.keyboard.press('Escape')
  }
  await page.goto('/users')
  for (const [action, count] of [
    ['Ban', 2],
    ['Delete', 1],
    ['Extend Subscription', 1],
  ] as const) {
    await rowAction(page, name, action)
    await expect(isolated(page.locator('[role=dialog], [role=alertdialog]'))).toHaveCount(count)
    await page.keyboard.press('Escape')
  }
  await row(page, name).getByRole('checkbox').check()
  for (const action of ['Ban', 'Reset HWID', 'Delete']) {
    await act(action)
    await expect(isolated(page.getByRole('alertdialog'))).toHaveCount(1)
    await page.keyboard.press('Escape')
  }
})

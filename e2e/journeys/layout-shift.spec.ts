import { expect, test } from '../keyward.ts'
import { appTabs } from '../pages.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import { enter, Program, Vendor } from '../steps.ts'
import { expectStillPages, watchShifts } from '../stillness.ts'

// pages.spec.ts checks every page of a console in use; here are those that show something else before it is in use.
test.beforeEach(({ page }) => watchShifts(page))

test('pages of a new vendor load without layout shift', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
}) => {
  await enter(page, await Vendor.signUp(request), '/terms')
  await expectStillPages(page, [
    '/dashboard',
    '/resellers',
    '/licenses',
    '/users',
    '/members',
    '/audit',
    '/subscription',
    '/about',
  ])
})

test('the tabs of an unused app load without layout shift', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const { _id } = await vendor.createApp('Unused')
  await enter(page, vendor, '/terms')
  await expectStillPages(page, [`/apps/${_id}`, ...appTabs.map((tab) => `/apps/${_id}?tab=${tab}`)])
})

test('pages that need an app load without layout shift for a new app', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await enter(page, vendor, '/terms')
  await expectStillPages(page, ['/dashboard', '/resellers', '/licenses', '/users'])
})

test('the dashboard loads without layout shift after the first activation', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 1)
  await (await Program.start(request, app)).register('alice', license!)
  await enter(page, vendor, '/terms')
  await expectStillPages(page, ['/dashboard'])
  await expect(page.getByRole('region', { name: 'Next steps' })).toBeVisible()
})

for (const count of [0, 2])
  test(`pages of the portal load without layout shift for a reseller with ${count} licenses`, {
    tag: ['@full', '@phone'],
  }, async ({ page, request, keyward }) => {
    const { vendor, app } = await premiumVendor(request, keyward)
    const seller = await Seller.signIn(request, await createReseller(vendor, app, Math.max(1, count)))
    if (count > 0) await seller.generate(count)
    await enterPortal(page, seller)
    await expectStillPages(page, ['/reseller/dashboard', '/reseller/licenses', '/reseller/profile'])
  })

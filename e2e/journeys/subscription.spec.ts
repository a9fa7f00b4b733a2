import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { premiumVendor, setPlan } from '../reseller.ts'
import { enter, expectToast, shownDate, Vendor } from '../steps.ts'

const refused = { status: 403, json: { success: false, code: 'forbidden', message: 'Not now' } }

test('the free plan shows its features and the prices of premium', async ({ page, request, keyward }) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/subscription')
  await expect(page.getByText('2 applications')).toBeVisible()
  await expect(page.getByText('Unlimited resellers with a portal of their own')).toBeVisible()
  await expect(page.getByText('₹699', { exact: true })).toBeVisible()
  await expect(page.getByText('₹1,199', { exact: true })).toBeVisible()
  await expect(page.getByText('Save ₹7,189 (86%)')).toBeVisible()
  await expect(page.getByText('₹1,199 instead of 12 × ₹699')).toBeVisible()
  const upgrade = page
    .locator('section')
    .filter({ has: page.getByRole('button', { name: 'Upgrade Yearly' }) })
  await expect(upgrade.getByText('Seven-day money-back guarantee')).toBeVisible()
  await expect(upgrade.getByRole('button', { name: /^Upgrade/ })).toHaveText([
    'Upgrade Yearly',
    'Upgrade Monthly',
  ])
  for (const name of ['Upgrade Monthly', 'Upgrade Yearly']) {
    await expect(page.getByRole('button', { name })).toBeEnabled()
  }

  setPlan(keyward, vendor, 'premium')
  await page.getByRole('button', { name: 'Refresh plans' }).click()
  await expectToast(page, 'Plans refreshed successfully!')
  const until = shownDate(Date.now() + 365 * 86_400_000)
  await expect(page.getByText(`Premium is active until ${until}.`)).toBeVisible()
  await expect(page.getByText('The operator of this server granted you premium.')).toBeVisible()
  await expect(page.getByText('Paid Term')).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Cancel Subscription' })).toHaveCount(0)
  const active = page.getByRole('button', { name: 'Premium is active' })
  await expect(active).toHaveCount(2)
  await expect(active.first()).toBeDisabled()
  await expect(active.last()).toBeDisabled()
})

test('shows fallback prices with a note while prices cannot be loaded', { tag: '@full' }, async ({
  page,
  request,
}) => {
  await page.route('**/api/payments/pricing', (route) => route.fulfill(refused))
  await enter(page, await Vendor.signUp(request), '/subscription')
  await expect(page.getByText('₹699')).toBeVisible()
  await expect(page.getByText('₹1199')).toBeVisible()
  await expect(page.getByText('Save ₹989 (17%)')).toBeVisible()
  await expect(page.getByText('instead of 12')).toHaveCount(0)
  await expect(page.getByText('Failed to load the prices of this server.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Upgrade Yearly' })).toBeDisabled()
  await page.getByRole('button', { name: 'Refresh plans' }).click()
  await expectToast(page, 'Failed to refresh plans')
  await page.unroute('**/api/payments/pricing')
  await page.getByRole('button', { name: 'Refresh plans' }).click()
  await expectToast(page, 'Plans refreshed successfully!')
  await expect(page.getByText('₹1,199', { exact: true })).toBeVisible()
})

test('a plan that fails to load shows an error with retry', { tag: '@full' }, async ({ page, request }) => {
  await page.route('**/api/subscription', (route) => route.fulfill(refused))
  await enter(page, await Vendor.signUp(request), '/subscription')
  await expect(page.getByText('Failed to fetch subscription status')).toBeVisible()
  await page.unroute('**/api/subscription')
  await page.getByRole('button', { name: 'Try Again' }).click()
  await expect(page.getByText('Current Plan')).toBeVisible()
})

test('the page is accessible on both plans, light and dark', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor } = await premiumVendor(request, keyward)
  await enter(page, vendor, '/subscription')
  await expect(page.getByText('Premium is active until')).toBeVisible()
  await expectAccessible(page, 'subscription, premium')
  setPlan(keyward, vendor, 'free')
  await page.reload()
  await expect(page.getByRole('button', { name: 'Upgrade Monthly' })).toBeVisible()
  await expectAccessible(page, 'subscription, free')
})

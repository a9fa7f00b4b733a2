import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { countScripts, endPremium } from '../paying.ts'
import { setPlan } from '../reseller.ts'
import {
  dialog,
  enter,
  expectToast,
  figure,
  inDays,
  navigate,
  row,
  shownDate,
  storeToken,
  Vendor,
} from '../steps.ts'

const activated = 'Subscription activated successfully!'
const simulated = 'Development mode: payments are simulated, no money moves'

test('in development mode a payment is simulated, and labeled so before and after', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const scripts = countScripts(page)
  await enter(page, vendor, '/subscription')
  await expect(page.getByText(simulated)).toBeVisible()
  const verified = page.waitForRequest('**/razorpay/verify')
  await page.getByRole('button', { name: 'Upgrade Monthly' }).click()
  const sent = (await verified).postDataJSON()
  expect(sent.razorpay_order_id).toMatch(/^order_mock_/)
  expect(sent.razorpay_payment_id).toMatch(/^pay_mock_/)
  expect(sent.razorpay_signature).toBe('signature_mock')
  await expectToast(page, activated)
  await expect(page.getByText(`Premium is active until ${shownDate(inDays(30))}.`)).toBeVisible()
  expect(scripts()).toBe(0)
  await expect(row(page, 'Premium, monthly')).toContainText('Paid')
  await page.getByRole('button', { name: /^Receipt of pay_mock_/ }).click()
  const receipt = dialog(page, 'Receipt')
  await expect(receipt.getByText('Simulated in development mode. No money was paid.')).toBeVisible()
  await expectAccessible(page, 'a receipt of development mode')
  await page.keyboard.press('Escape')
  await expect(receipt).toHaveCount(0)
})

test('the free plan of a development server says how an own server has no limits, and no other plan or server does', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const note = page.getByText('Your own server has no limits if it starts with PAYMENTS=off')
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/dashboard')
  await expect(page.getByRole('region', { name: 'Plan' })).toContainText('DEFAULT_PLAN=premium')
  await expectAccessible(page, 'a dashboard of development mode')
  await page.goto('/subscription')
  await expect(note).toBeVisible()
  await expectAccessible(page, 'a subscription of development mode')

  const answer = await (await request.get('/api/config')).json()
  for (const different of [{ development: false }, { payments: 'razorpay' }]) {
    const data = { ...answer.data, ...different }
    await page.route('**/api/config', (route) => route.fulfill({ json: { ...answer, data } }))
    const configured = page.waitForResponse('**/api/config')
    await page.reload()
    await configured
    await expect(page.getByText("What's included")).toBeVisible()
    await expect(note).toHaveCount(0)
    await page.unroute('**/api/config')
  }
  setPlan(keyward, vendor, 'premium')
  for (const [path, shown] of [
    ['/subscription', 'Premium Until'],
    ['/dashboard', 'of ∞'],
  ] as const) {
    await page.goto(path)
    await expect(page.getByText(shown)).toBeVisible()
    await expect(note).toHaveCount(0)
  }
})

test('a rejected simulated payment shows its own message', { tag: '@full' }, async ({ page, request }) => {
  await page.route('**/razorpay/verify', (route) => route.fulfill({ json: { success: false } }))
  await enter(page, await Vendor.signUp(request), '/subscription')
  await page.getByRole('button', { name: 'Upgrade Yearly' }).click()
  await expectToast(page, 'Failed to verify mock payment')
  await page.unroute('**/razorpay/verify')
  await page.getByRole('button', { name: 'Upgrade Yearly' }).click()
  await expectToast(page, activated)
})

test('cancelled premium stays until its end, and can still be refunded', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/subscription')
  await page.getByRole('button', { name: 'Upgrade Monthly' }).click()
  await expectToast(page, activated)
  const end = shownDate(inDays(30))

  await page.getByRole('button', { name: 'Cancel Subscription' }).click()
  const question = dialog(page, 'Cancel your subscription?')
  await expect(question.getByRole('radio', { name: `Keep premium until ${end}` })).toBeChecked()
  await question.getByRole('button', { name: 'Cancel Subscription' }).click()
  await expectToast(page, 'Cancelled. Premium stays until its end.')
  await expect(page.getByText(`Cancelled. Premium stays until ${end}.`)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Cancel Subscription' })).toHaveCount(0)
  await expectAccessible(page, 'cancelled premium')

  await page.getByRole('button', { name: 'Get ₹699 back' }).click()
  const offer = dialog(page, 'Get ₹699 back?')
  await expect(offer.getByText('Nothing is deleted')).toBeVisible()
  await offer.getByRole('button', { name: 'Get ₹699 back' }).click()
  await expectToast(page, 'Cancelled. ₹699 is being refunded.')
  await expect(page.getByText(`Premium ended on ${shownDate(Date.now())}.`)).toBeVisible()
  await expect(row(page, 'Premium, monthly')).toContainText('Refunded')
  await expect(page.getByRole('button', { name: 'Upgrade Monthly' })).toBeEnabled()
})

test('a rejected cancellation is reported, and granted premium has nothing to cancel', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/subscription')
  await page.getByRole('button', { name: 'Upgrade Yearly' }).click()
  await expectToast(page, activated)
  await page.route('**/cancel-subscription', (route) => route.fulfill({ json: { success: false } }))
  await page.getByRole('button', { name: 'Cancel Subscription' }).click()
  const question = dialog(page, 'Cancel your subscription?')
  await question.getByRole('button', { name: 'Cancel Subscription' }).click()
  await expectToast(page, 'Failed to cancel subscription')
  await page.unroute('**/cancel-subscription')
  await question.getByRole('button', { name: 'Cancel Subscription' }).click()
  await expect(page.getByText(`Cancelled. Premium stays until ${shownDate(inDays(365))}.`)).toBeVisible()

  const granted = await Vendor.signUp(request)
  setPlan(keyward, granted, 'premium')
  await storeToken(page, granted.token)
  await page.goto('/subscription?dialog=cancel')
  await expect(page.getByText('The operator of this server granted you premium.')).toBeVisible()
  await expect(question).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Cancel Subscription' })).toHaveCount(0)
})

test('every page announces the end of premium a week before, until renewed', {
  tag: ['@full', '@phone'],
}, async ({ page, request, keyward }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  endPremium(keyward, vendor, inDays(8))
  await enter(page, vendor)
  const notice = page.getByRole('region', { name: 'About your plan' })
  await expect(figure(page, 'Plan')).toContainText('Premium')
  await expect(notice).toHaveCount(0)
  await page.goto('/subscription')
  await expect(page.getByText('Premium is active until')).toBeVisible()
  await expect(page.getByText('Renew early')).toHaveCount(0)

  const end = inDays(6)
  endPremium(keyward, vendor, end)
  for (const path of ['/dashboard', '/licenses', '/profile', '/settings']) {
    await page.goto(path)
    await expect(notice).toContainText(`Premium ends on ${shownDate(end)}.`)
  }
  await expectAccessible(page, 'premium is about to end')
  await notice.getByRole('link', { name: 'Renew' }).click()
  await expect(page.getByRole('heading', { name: 'Renew early' })).toBeVisible()
  for (const button of await page.getByRole('button', { name: 'Premium is active' }).all()) {
    await expect(button).toBeDisabled()
  }
  await expectAccessible(page, 'renewing early')
  const later = new Date(end.getTime() + 30 * 86_400_000)
  await expect(page.getByText(`Premium until ${shownDate(later)}`)).toBeVisible()
  await page.getByRole('button', { name: 'Renew Monthly' }).click()
  await expectToast(page, activated)
  await expect(page.getByText(`Premium is active until ${shownDate(later)}.`)).toBeVisible()
  await navigate(page, 'Settings')
  await expect(page.getByRole('heading', { name: 'Theme' })).toBeVisible()
  await expect(notice).toHaveCount(0)
})

test('explains the end of premium until dismissed', { tag: '@full' }, async ({ page, request, keyward }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  const end = inDays(-1)
  endPremium(keyward, vendor, end)
  await enter(page, vendor, '/settings')
  const notice = page.getByRole('region', { name: 'About your plan' })
  await expect(notice).toContainText(`Premium ended on ${shownDate(end)}.`)
  await expect(notice).toContainText('Nothing is deleted')
  await expect(notice).toContainText('resellers can no longer generate licenses')
  await expect(notice.getByRole('link', { name: 'Renew' })).toHaveAttribute('href', '/subscription')
  await expectAccessible(page, 'premium has ended')
  await notice.getByRole('button', { name: 'Dismiss' }).click()
  await expect(notice).toHaveCount(0)
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Theme' })).toBeVisible()
  await expect(notice).toHaveCount(0)
  await page.goto('/subscription')
  await expect(page.getByText(`Premium ended on ${shownDate(end)}.`)).toBeVisible()

  const other = inDays(-0.5)
  endPremium(keyward, vendor, other)
  await page.goto('/settings')
  await expect(notice).toContainText(`Premium ended on ${shownDate(other)}.`)
})

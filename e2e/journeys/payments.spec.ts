import { expectAccessible } from '../accessibility.ts'
import { expect } from '../keyward.ts'
import {
  activated,
  blockCheckout,
  checkoutOf,
  countScripts,
  inCheckout,
  press,
  serveCheckout,
  test,
} from '../paying.ts'
import { enter, expectToast, fact, figure, inDays, navigate, row, shownDate, Vendor } from '../steps.ts'

test('a payment in the checkout starts premium on all pages', async ({ page, request, provider }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  const scripts = countScripts(page)
  await enter(page, vendor, '/subscription')
  await expect(page.getByText('No payments yet')).toBeVisible()
  expect(scripts()).toBe(0)

  await press(page, 'Upgrade Yearly')
  await expect(checkoutOf(page).getByText('Keyward', { exact: true })).toBeVisible()
  await expect(checkoutOf(page).getByText('Premium, yearly')).toBeVisible()
  await expect(checkoutOf(page).getByText('₹1,199.00')).toBeVisible()
  await expect(checkoutOf(page).getByText(vendor.email)).toBeVisible()
  expect(scripts()).toBe(1)
  await inCheckout(page, 'Pay')
  await expectToast(page, activated)
  await expect(page.getByText(`Premium is active until ${shownDate(inDays(365))}.`)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Premium is active' })).toHaveCount(2)
  await expect(fact(page, 'Paid Term')).toHaveText('Yearly')
  const paid = row(page, 'Premium, yearly')
  await expect(paid).toContainText('Paid')
  const { orderId } = (await vendor.call('GET', '/subscription')).subscription
  const [payment] = provider.payments(orderId)
  await paid.getByRole('button', { name: `Copy payment ID ${payment!.id}` }).click()
  await expectToast(page, 'Copied to clipboard')

  await navigate(page, 'Profile')
  await expect(figure(page, 'Payment Status')).toContainText('Paid')
  await expect(page.getByText('Unlimited', { exact: true }).first()).toBeVisible()
  await navigate(page, 'Dashboard')
  await expect(figure(page, 'Plan')).toContainText('Premium')
})

test('explains a failed attempt, and accepts the next one in the same checkout', { tag: '@full' }, async ({
  page,
  request,
}) => {
  await enter(page, await Vendor.signUp(request), '/subscription')
  await press(page, 'Upgrade Monthly')
  await inCheckout(page, 'Fail')
  await expect(page.getByText('The last attempt failed')).toBeVisible()
  await expect(
    page.getByRole('main').getByText("Your payment didn't go through as it was declined by the bank."),
  ).toBeVisible()
  await inCheckout(page, 'Pay')
  await expectToast(page, activated)
  await expect(page.getByText('The last attempt failed')).toHaveCount(0)
  await expect(page.getByText('Premium is active until')).toBeVisible()
})

test('reports a dismissed checkout, and reuses its order', { tag: '@full' }, async ({
  page,
  request,
  provider,
}) => {
  await enter(page, await Vendor.signUp(request), '/subscription')
  const before = provider.orders().length
  const scripts = countScripts(page)
  for (let time = 0; time < 2; time += 1) {
    await press(page, 'Upgrade Monthly')
    await inCheckout(page, 'Dismiss')
    await expectToast(page, 'Payment cancelled')
    await expect(page.getByRole('button', { name: 'Upgrade Monthly' })).toBeFocused()
  }
  expect(provider.orders().length - before).toBe(1)
  expect(scripts()).toBe(1)
})

test('reports a checkout script that fails to load, and retries it', { tag: '@full' }, async ({
  page,
  request,
}) => {
  await enter(page, await Vendor.signUp(request), '/subscription')
  await blockCheckout(page)
  await press(page, 'Upgrade Monthly')
  await expectToast(page, 'Failed to load payment gateway. Please try again.')
  await serveCheckout(page)
  await press(page, 'Upgrade Monthly')
  await inCheckout(page, 'Pay')
  await expectToast(page, activated)
})

test('reports a checkout that fails to open', { tag: '@full' }, async ({ page, request }) => {
  await enter(page, await Vendor.signUp(request), '/subscription')
  await page.route('https://checkout.razorpay.com/v1/checkout.js', (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      body: 'window.Razorpay = function () { throw new Error("no") }',
    }),
  )
  await press(page, 'Upgrade Monthly')
  await expectToast(page, 'Failed to initiate subscription')
  await expect(page.getByRole('button', { name: 'Upgrade Monthly' })).toBeEnabled()
})

test('a double click opens one checkout for one order', { tag: '@full' }, async ({
  page,
  request,
  provider,
}) => {
  await enter(page, await Vendor.signUp(request), '/subscription')
  const before = provider.orders().length
  await page.getByRole('button', { name: 'Upgrade Monthly' }).dblclick()
  await expect(checkoutOf(page)).toHaveCount(1)
  await expect(page.getByRole('button', { name: 'Upgrade Yearly' })).toBeDisabled()
  expect(provider.orders().length - before).toBe(1)
})

test('shows a payment that only the provider reports', { tag: '@full' }, async ({
  page,
  request,
  provider,
}) => {
  await enter(page, await Vendor.signUp(request), '/subscription')
  await press(page, 'Upgrade Monthly')
  await inCheckout(page, 'Pay, but tell nobody')
  await expect(checkoutOf(page)).toHaveCount(0)
  await provider.deliverAll()
  await expectToast(page, activated)
  await expect(page.getByText('Premium is active until')).toBeVisible()
  await expect(row(page, 'Premium, monthly')).toContainText('Paid')
})

test('waits for the confirmation of a payment, even after a reload', { tag: '@full' }, async ({
  page,
  request,
  provider,
}) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/subscription')
  await press(page, 'Upgrade Monthly')
  await inCheckout(page, 'Fail')
  await expect(page.getByText('The last attempt failed')).toBeVisible()
  await provider.deliverAll()
  await expect(row(page, 'Premium, monthly').getByText('Failed')).toBeVisible()
  provider.fail({ mode: 'status', status: 500, times: 1000 })
  await inCheckout(page, 'Pay')
  const waiting = page.getByText('Waiting for confirmation', { exact: true })
  await expect(waiting).toBeInViewport()
  await expect(page.getByText('Your payment was sent. Premium starts automatically')).toBeVisible()
  await expect(page.locator('[data-sonner-toast][data-type=error]')).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Upgrade Monthly' })).toBeDisabled()
  await expectAccessible(page, 'waiting for confirmation')
  // Without events the console polls every few seconds.
  await page.route('**/api/events', (route) => route.abort())
  await page.reload()
  await expect(waiting).toBeVisible()

  provider.clearFaults()
  await provider.deliverAll()
  await expectToast(page, activated)
  await expect(waiting).toHaveCount(0)
  await expect(page.getByText('Premium is active until')).toBeVisible()
})

test("shows the server's message for a rejection, or a default", { tag: '@full' }, async ({
  page,
  request,
}) => {
  await enter(page, await Vendor.signUp(request), '/subscription')
  await page.route('**/razorpay/create-order', (route) => route.fulfill({ json: { success: false } }))
  await press(page, 'Upgrade Monthly')
  await expectToast(page, 'Failed to create subscription order')
  await page.unroute('**/razorpay/create-order')
  await page.route('**/razorpay/verify', (route) => route.fulfill({ json: { success: false } }))
  await press(page, 'Upgrade Monthly')
  await inCheckout(page, 'Pay')
  await expectToast(page, 'Failed to verify payment')
  await page.unroute('**/razorpay/verify')

  await page.route('**/razorpay/create-order', (route) =>
    route.fulfill({ status: 502, json: { success: false, message: 'Come back later' } }),
  )
  await press(page, 'Upgrade Monthly')
  await expectToast(page, 'Come back later')
})

test('a coupon shows the reduced price, and is sent with the order', { tag: '@full' }, async ({
  page,
  request,
  provider,
}) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/subscription')
  const field = page.getByLabel('Coupon code')
  await press(page, 'Apply')
  await expect(page.getByText('Please enter a coupon code')).toBeVisible()
  await field.pressSequentially('nosuch')
  await expect(field).toHaveValue('NOSUCH')
  await press(page, 'Apply')
  await expect(page.getByText('Invalid coupon code')).toBeVisible()
  await page.route('**/validate-coupon', (route) => route.fulfill({ json: { success: false } }))
  await press(page, 'Apply')
  await expect(page.getByText('Invalid coupon code')).toBeVisible()
  await page.unroute('**/validate-coupon')

  await field.fill('')
  await field.pressSequentially('save10')
  await field.press('Enter')
  await expect(page.getByText('SAVE10: 10% off')).toBeVisible()
  await expect(page.getByText('₹629.10', { exact: true })).toBeVisible()
  await expect(page.getByText('₹1,079.10', { exact: true })).toBeVisible()
  await expect(page.getByText('₹1,079.10 instead of 12 × ₹629.10')).toBeVisible()
  await expect(page.locator('s')).toHaveText(['instead of ₹1,199', 'instead of ₹699'])
  await expectAccessible(page, 'an applied coupon')
  await page.getByRole('button', { name: 'Remove coupon SAVE10' }).click()
  await expect(page.getByText('₹629.10')).toHaveCount(0)
  await expect(field).toBeFocused()

  const offered = page.getByRole('list', { name: 'Available coupons' })
  await expect(offered.getByRole('listitem')).toHaveText([
    'LAUNCH 30% off',
    'SAVE25 25% off',
    'SAVE20 20% off',
    'WELCOME 15% off',
    'SAVE10 10% off',
  ])
  await offered.getByRole('button', { name: 'SAVE10' }).click()
  await expect(page.getByText('SAVE10: 10% off')).toBeVisible()
  await press(page, 'Upgrade Monthly')
  await expect(checkoutOf(page).getByText('₹629.10')).toBeVisible()
  await inCheckout(page, 'Pay')
  await expectToast(page, activated)
  const { orderId } = (await vendor.call('GET', '/subscription')).subscription
  expect(provider.order(orderId).amount).toBe(62_910)
  await expect(row(page, 'SAVE10: 10% off')).toContainText('₹629.10')
})

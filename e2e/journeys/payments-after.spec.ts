import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect } from '../keyward.ts'
import { activated, endPremium, inCheckout, press, test } from '../paying.ts'
import { dialog, enter, expectToast, inDays, row, shownDate, Vendor } from '../steps.ts'

test('cancelling within seven days refunds the payment once the provider confirms it', {
  tag: '@full',
}, async ({ page, request, provider }) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/subscription')
  await press(page, 'Upgrade Monthly')
  await inCheckout(page, 'Pay')
  await expectToast(page, activated)

  provider.fail({ method: 'POST', path: /refund/, mode: 'status', status: 500, times: 1000 })
  await press(page, 'Cancel Subscription')
  const question = dialog(page, 'Cancel your subscription?')
  await expect(question.getByText(`Premium stays until ${shownDate(inDays(30))}`)).toBeVisible()
  await expectAccessible(page, 'the question before cancelling')
  await question.getByRole('radio', { name: 'Get ₹699 back' }).check()
  await expect(question.getByText('Premium ends now.').first()).toBeVisible()
  await question.getByRole('button', { name: 'Get ₹699 back' }).click()
  await expect(question).toHaveCount(0)
  await expect(row(page, 'Premium, monthly')).toContainText('Refunding')
  await expect(page.getByText('₹699 is being refunded. The payment provider has not')).toBeVisible()

  await expect(page.getByText('Cancelled: premium ends once ₹699 is refunded')).toBeVisible()
  await expectAccessible(page, 'money on its way back')

  provider.clearFaults()
  await provider.deliverAll({ again: true })
  await expect(row(page, 'Premium, monthly')).toContainText('Refunded')
  await expect(page.getByText(`Premium ended on ${shownDate(Date.now())}.`)).toBeVisible()
  await expect(page.getByText('Your payment was refunded.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Upgrade Monthly' })).toBeEnabled()
})

test('a refund keeps premium that has no end, and the question says so', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/subscription')
  await press(page, 'Upgrade Monthly')
  await inCheckout(page, 'Pay')
  await expectToast(page, activated)

  endPremium(keyward, vendor, new Date('9999-12-31T23:59:59.999Z'))
  await page.reload()
  await expect(page.getByText('Your premium plan has no end.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Cancel Subscription' })).toHaveCount(0)
  await press(page, 'Get ₹699 back')
  const question = dialog(page, 'Get ₹699 back?')
  await expect(question.getByText('Your premium plan stays.')).toBeVisible()
  await expect(question.getByText('Premium ends now')).toHaveCount(0)
  await question.getByRole('button', { name: 'Get ₹699 back' }).click()
  await expect(row(page, 'Premium, monthly')).toContainText(/Refund(ing|ed)/)
  await expect(page.getByText('Your premium plan has no end.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Get ₹699 back' })).toHaveCount(0)
})

test('shows a receipt, and prints it alone', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request, 'Vera Vendor')
  await enter(page, vendor, '/subscription')
  await page.getByLabel('Coupon code').fill('LAUNCH')
  await press(page, 'Apply')
  await press(page, 'Upgrade Yearly')
  await inCheckout(page, 'Pay')
  await expectToast(page, activated)
  const [payment] = (await vendor.call('GET', '/payments/history')).payments
  await page.getByRole('button', { name: `Receipt of ${payment.paymentId}` }).click()
  const receipt = dialog(page, 'Receipt')
  for (const text of [
    payment.receipt,
    payment.paymentId,
    payment.orderId,
    vendor.name,
    vendor.email,
    'Premium, yearly',
    `${shownDate(payment.periodStart)} to ${shownDate(payment.periodEnd)}`,
    '₹1,199',
    'Coupon LAUNCH, 30% off',
    payment.priceFormatted,
    'Card',
  ]) {
    await expect(receipt.getByText(text, { exact: true }).first()).toBeVisible()
  }
  await expect(receipt.getByText('Simulated in development mode')).toHaveCount(0)
  await expectAccessible(page, 'a receipt')

  await page.evaluate('window.print = () => { document.body.dataset.prints = "yes" }')
  await receipt.getByRole('button', { name: 'Print' }).click()
  await expect(page.locator('body')).toHaveAttribute('data-prints', 'yes')
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await expect(page.getByText(payment.receipt)).toBeVisible()
  await expect(page.locator('#root')).toBeHidden()
  await expect(page.getByText('Print', { exact: true })).toBeHidden()
  await expect(page.locator('[data-printed]')).toHaveCSS('color', 'rgb(0, 0, 0)')
  await page.emulateMedia({ media: null })
  await receipt.getByRole('button', { name: 'Close' }).last().click()
  await expect(page).toHaveURL('/subscription')
})

test('the history shows the outcome of each payment, and retries after a failure', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await page.route('**/api/payments/history', (route) =>
    route.fulfill({ status: 403, json: { success: false, code: 'forbidden', message: 'Not now' } }),
  )
  await enter(page, vendor, '/subscription')
  await expect(page.getByText('Failed to fetch payment history')).toBeVisible()
  const payment = {
    orderId: 'order_1',
    receipt: 'kw_1',
    planDuration: 'monthly',
    amount: 69_900,
    currency: 'INR',
    priceFormatted: '₹699',
    listAmount: 69_900,
    listFormatted: '₹699',
    couponCode: null,
    discount: 0,
    amountRefunded: 0,
    refundedFormatted: '₹0',
    method: 'upi',
    note: null,
    periodStart: null,
    periodEnd: null,
    createdAt: new Date().toISOString(),
    isDevelopmentMode: false,
  }
  const states = {
    paid: 'Paid',
    pending: 'Pending',
    failed: 'Failed',
    refunding: 'Refunding',
    refunded: 'Refunded',
    partially_refunded: 'Partially refunded',
    charged_back: 'Charged back',
  }
  const payments = Object.keys(states).map((status) => ({
    ...payment,
    _id: `pay_${status}`,
    paymentId: `pay_${status}`,
    status,
    note: status === 'failed' ? 'Declined by the bank' : null,
  }))
  await page.unroute('**/api/payments/history')
  await page.route('**/api/payments/history', (route) =>
    route.fulfill({ json: { success: true, data: { payments } } }),
  )
  await page.getByRole('button', { name: 'Try Again' }).click()
  for (const [status, label] of Object.entries(states)) {
    const shown = row(page, `pay_${status}`)
    await expect(shown.getByText(label, { exact: true })).toBeVisible()
    const taken = status !== 'pending' && status !== 'failed'
    await expect(shown.getByRole('button', { name: 'Receipt' })).toHaveCount(taken ? 1 : 0)
  }
  await expect(row(page, 'pay_failed')).toContainText('Declined by the bank')
  await expectStateAccessible(page, 'the history of payments')
})

import { expect, test } from '../keyward.ts'
import { enter, settle, Vendor } from '../steps.ts'

test.use({ environment: { PAYMENTS: 'off', DEFAULT_PLAN: 'free' } })

test('with payments off the page says so and sells nothing', { tag: '@full' }, async ({ page, request }) => {
  await enter(page, await Vendor.signUp(request), '/subscription')
  await expect(page.getByText('Payments are turned off on this server.')).toBeVisible()
  await settle(page)
  for (const name of [/Upgrade/, 'Apply', 'Refresh plans'])
    await expect(page.getByRole('button', { name })).toHaveCount(0)
  for (const text of ['₹1,199', 'money-back', 'Payment History'])
    await expect(page.getByText(text)).toHaveCount(0)

  await page.evaluate('localStorage.clear()')
  await page.goto('/landing')
  await settle(page)
  await expect(page.getByRole('contentinfo').getByRole('link', { name: 'Terms' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Start free, pay when you grow' })).toHaveCount(0)
  await expect(page.getByText('An account on this server costs nothing.')).toBeVisible()
  for (const text of [/30 licenses/, /free plan/, /Premium/, 'Pricing'])
    await expect(page.getByText(text)).toHaveCount(0)
})

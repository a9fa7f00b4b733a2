import { expect, test } from '../keyward.ts'
import { enter, settle, Vendor } from '../steps.ts'

test.use({ environment: { PAYMENTS: 'off' } })

test('a server without payments gives premium to every vendor and sells nothing', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const upgrade = page.getByText('Upgrade to Premium')
  await enter(page, vendor, '/dashboard')
  await settle(page)
  await expect(page.getByText('of ∞')).toBeVisible()
  await expect(upgrade).toHaveCount(0)

  await page.goto('/profile')
  await expect(page.getByText('Premium Access')).toBeVisible()
  await expect(page.getByText('Unpaid')).toHaveCount(0)
  await expect(upgrade).toHaveCount(0)

  await page.goto('/resellers')
  await settle(page)
  await expect(page.getByText('require the premium plan')).toHaveCount(0)
  await expect(upgrade).toHaveCount(0)

  await page.goto('/subscription')
  await expect(
    page.getByText('Your premium plan has no end. There is nothing to buy or renew.'),
  ).toBeVisible()
  await expect(page.getByText('Licenses per App', { exact: true })).toBeVisible()
  for (const name of [/Upgrade/, 'Premium is active', 'Apply', 'Cancel Subscription', 'Refresh plans']) {
    await expect(page.getByRole('button', { name })).toHaveCount(0)
  }
  for (const text of ['Premium Until', 'Expires', 'money-back', 'Payment History']) {
    await expect(page.getByText(text)).toHaveCount(0)
  }
})

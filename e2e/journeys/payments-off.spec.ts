import { expect, test } from '../keyward.ts'
import { enter, Vendor } from '../steps.ts'

test.use({ environment: { PAYMENTS: 'off' } })

test('with payments off the page says so and disables its buttons', async ({ page, request }) => {
  await enter(page, await Vendor.signUp(request), '/subscription')
  await expect(page.getByText('Payments are turned off on this server.')).toBeVisible()
  for (const name of ['Upgrade Monthly', 'Upgrade Yearly', 'Apply']) {
    await expect(page.getByRole('button', { name })).toBeDisabled()
  }
  await expect(page.getByText('₹1,199')).toBeVisible()
})

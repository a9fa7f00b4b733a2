import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor, resellerButton } from '../reseller.ts'
import { dialog, enter, expectToast } from '../steps.ts'

test('the keyboard goes on in the page after a row is deleted, and at the row otherwise', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const { email } = await createReseller(vendor, app)
  await vendor.createEndUser(app, 'gone-soon')

  await enter(page, vendor, '/resellers')
  const remove = resellerButton(page, 'Delete', email)
  await remove.focus()
  await page.keyboard.press('Enter')
  await expect(dialog(page, 'Delete Reseller')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(remove).toBeFocused()
  await page.keyboard.press('Enter')
  await dialog(page, 'Delete Reseller').getByRole('textbox').fill(email)
  await page.keyboard.press('Enter')
  await expectToast(page, 'Reseller has been permanently deleted.')
  await expect(remove).toHaveCount(0)
  await expect(page.getByRole('main')).toBeFocused()

  await page.goto('/users')
  await page.getByRole('button', { name: 'Actions for gone-soon' }).press('Enter')
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter')
  await dialog(page, /Delete gone-soon/)
    .getByRole('button', { name: /^Delete/ })
    .press('Enter')
  await expectToast(page, 'User Deleted')
  await expect(page.getByRole('main')).toBeFocused()
})

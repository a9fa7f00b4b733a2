import type { Locator, Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import { enter } from '../steps.ts'

const panel = (page: Page) => page.getByRole('dialog').first()
const placeOf = async (target: Locator) => (await target.boundingBox())!

test('the first click after opening Add New Reseller generates a password', async ({
  page,
  request,
  keyward,
}) => {
  const { vendor } = await premiumVendor(request, keyward)
  await enter(page, vendor, '/resellers?dialog=create')
  await expect(panel(page).getByLabel('Email')).toBeFocused()
  await page.getByRole('button', { name: 'Generate password' }).click()
  await expect(panel(page).getByLabel('Password', { exact: true })).toHaveValue(/^.{12}$/)
  await expect(panel(page).getByRole('alert')).toHaveCount(0)
})

test('an error of a field moves nothing around it', async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  await enter(page, vendor, '/resellers?dialog=create')
  const email = panel(page).getByLabel('Email')
  const submit = panel(page).getByRole('button', { name: 'Create Reseller' })
  const before = await placeOf(submit)
  await email.fill('nonsense')
  await email.blur()
  await expect(panel(page).getByRole('alert')).toHaveText('Please enter a valid email address')
  expect(await placeOf(submit)).toEqual(before)
})

test('no form finds fault with a field that was left as it was found', async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app)
  const forms = [
    '/resellers?dialog=create',
    `/resellers?dialog=edit&id=${reseller._id}`,
    '/dashboard?dialog=new-app',
    `/dashboard?dialog=edit-app&id=${app._id}`,
    '/licenses?dialog=generate',
    '/licenses?dialog=import',
    '/users?dialog=create',
    '/profile?dialog=change-password',
    '/profile?dialog=change-email',
  ]
  await enter(page, vendor)
  for (const path of forms) {
    await page.goto(path)
    await expectQuiet(page, panel(page), path)
  }
  await enterPortal(page, await Seller.signIn(request, reseller), '/reseller/licenses?dialog=generate')
  await expectQuiet(page, panel(page), 'portal')
})

test('signing up finds no fault with a field that was left as it was found', async ({ page }) => {
  await page.goto('/auth?tab=sign-up')
  await expectQuiet(page, page.getByRole('tabpanel'), 'sign-up')
})

/** Walks through every field without entering anything. */
async function expectQuiet(page: Page, form: Locator, what: string) {
  const fields = form.locator('input:not([type=file], [hidden]):enabled, textarea:enabled')
  await expect(fields.first(), what).toBeVisible()
  for (const field of await fields.all()) {
    await field.focus()
    await field.blur()
  }
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  await expect(form.getByRole('alert'), what).toHaveCount(0)
}

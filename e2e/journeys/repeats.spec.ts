import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import { dialog, enter, expectToast, Vendor } from '../steps.ts'

/** Lets the server carry out the next request of this kind, but loses its answer. */
async function loseAnswer(page: Page, path: string, method = 'POST'): Promise<void> {
  let isLost = false
  await page.route(`**/api${path}`, async (route) => {
    if (isLost || route.request().method() !== method) return route.fallback()
    isLost = true
    await route.fetch()
    await route.abort()
  })
}

test('licenses are generated once if the answer is lost and the dialog is submitted again', async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await enter(page, vendor, '/licenses?dialog=generate')
  await loseAnswer(page, '/licenses')
  const generate = dialog(page, 'Generate License')
  await generate.getByRole('button', { name: 'Generate License' }).click()
  await expect(page.getByText('The server cannot be reached. Please check your connection.')).toBeVisible()
  const wait = { success: false, code: 'too_many_at_once', message: 'Too many requests at once' }
  await page.route('**/api/licenses', (route) => route.fulfill({ status: 429, json: wait }), { times: 1 })
  await generate.getByRole('button', { name: 'Generate License' }).click()
  await expect(page.getByText('Too many requests at once')).toBeVisible()
  await generate.getByRole('button', { name: 'Generate License' }).click()
  await expect(dialog(page, 'Licenses Generated')).toContainText('The key is ready')
  expect((await vendor.call('GET', '/licenses')).stats.total).toBe(1)
  await page.getByRole('button', { name: 'Generate More' }).click()
  await generate.getByRole('button', { name: 'Generate License' }).click()
  await expect(dialog(page, 'Licenses Generated')).toBeVisible()
  expect((await vendor.call('GET', '/licenses')).stats.total).toBe(2)
})

test('an end user is extended once if the answer is lost and the dialog is submitted again', async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const user = await vendor.createEndUser(app, 'hanna', 20)
  await enter(page, vendor, `/users?dialog=extend&id=${user._id}`)
  await loseAnswer(page, `/clients/${user._id}/extend`, 'PATCH')
  const extend = dialog(page, 'Extend hanna')
  await extend.getByRole('button', { name: 'Extend' }).click()
  await expect(page.getByText('The server cannot be reached. Please check your connection.')).toBeVisible()
  await extend.getByRole('button', { name: 'Extend' }).click()
  await expect(extend).toBeHidden()
  const [{ expiresAt }] = (await vendor.call('GET', '/clients')).clients
  expect(Date.parse(expiresAt) - Date.parse(user.expiresAt)).toBe(30 * 86_400_000)
})

test('a retry of a bulk action whose answer was lost adds the days once', async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  await vendor.createLicenses(app, 3, 10)
  const before = (await vendor.call('GET', '/licenses')).licenses.map(expiryOf)
  await enter(page, vendor, '/licenses')
  await page.getByRole('checkbox', { name: 'Select all rows on this page' }).check()
  await page.getByRole('region', { name: 'Selected rows' }).getByRole('button', { name: 'Extend' }).click()
  await loseAnswer(page, '/licenses/bulk')
  await dialog(page, 'Extend 3 licenses').getByRole('button', { name: 'Extend Licenses' }).click()
  const result = dialog(page, '0 of 3 licenses extended')
  await expect(result).toContainText('The server cannot be reached.')
  await result.getByRole('button', { name: 'Try Again' }).click()
  await expect(result).toBeHidden()
  const after = (await vendor.call('GET', '/licenses')).licenses.map(expiryOf)
  expect(after).toEqual(before.map((time: number) => time + 30 * 86_400_000))
})

test('a bulk action that is submitted twice at once adds the days once', async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const [license] = await vendor.createLicenses(await vendor.createApp(), 1, 10)
  await enter(page, vendor, '/licenses')
  await page.getByRole('checkbox', { name: 'Select all rows on this page' }).check()
  await page.getByRole('region', { name: 'Selected rows' }).getByRole('button', { name: 'Extend' }).click()
  const submit = page.getByRole('dialog').getByRole('button', { name: 'Extend License' })
  await submit.evaluate((button: { click(): void }) => {
    button.click()
    button.click()
  })
  await expect(submit).toBeHidden()
  await expectToast(page, 'Licenses Extended')
  const [extended] = (await vendor.call('GET', '/licenses')).licenses
  expect(expiryOf(extended)).toBe(expiryOf({ expiresAt: license!.expiresAt! }) + 30 * 86_400_000)
})

const expiryOf = ({ expiresAt }: { expiresAt: string }): number => Date.parse(expiresAt)

test("a reseller's licenses are generated once if the answer is lost, even its whole quota", async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const seller = await Seller.signIn(request, await createReseller(vendor, app))
  await enterPortal(page, seller, '/reseller/licenses?dialog=generate')
  await loseAnswer(page, '/resellers/auth/licenses')
  const generate = dialog(page, 'Generate License')
  const submit = generate.getByRole('button', { name: 'Generate License' })
  await generate.getByLabel('Number of Licenses').fill('10')
  await submit.click()
  await expect(page.getByText('The server cannot be reached. Please check your connection.')).toBeVisible()
  await expect(generate).toContainText('You can generate 0 more.')
  await submit.click()
  await expect(dialog(page, 'Licenses Generated')).toContainText('10 keys are ready')
  expect((await vendor.call('GET', '/licenses')).stats.total).toBe(10)
})

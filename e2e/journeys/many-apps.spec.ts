import type { APIRequestContext, Locator, Page } from '@playwright/test'
import { expect, type Keyward, test } from '../keyward.ts'
import { dialog, enter, expectToast, keyPrefix, makePremium, openPalette, row, Vendor } from '../steps.ts'

const more = 202

/** A vendor with more than one page of apps; the oldest is on the second page. */
async function vendorOfMany(request: APIRequestContext, keyward: Keyward) {
  const vendor = await Vendor.signUp(request)
  makePremium(keyward, vendor)
  const oldest = await vendor.createApp('Teapot')
  for (let at = 0; at < more; at += 20) {
    const names = Array.from({ length: Math.min(20, more - at) }, (_, index) => `Kettle ${at + index}`)
    await Promise.all(names.map((name) => vendor.createApp(name)))
  }
  return { vendor, oldest }
}

/** Searches the apps in a select and selects the result. */
async function find(page: Page, select: Locator, text: string, name: string) {
  await select.click()
  await page.getByRole('combobox', { name: /^Search: / }).fill(text)
  await expect(page.getByRole('option', { name })).toHaveCount(1)
  await page.keyboard.press('Enter')
  await expect(select).toHaveText(name)
}

test('finds an app among very many in the list, in filters, in forms and in the palette', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, oldest } = await vendorOfMany(request, keyward)
  await enter(page, vendor)
  await expect(page.getByText('1–200 of 203 apps')).toBeVisible()
  await expect(page.getByText('203 of unlimited apps')).toBeVisible()
  await expect(row(page, oldest.appId)).toHaveCount(0)
  await page.getByRole('button', { name: 'Next' }).click()
  await expect(row(page, oldest.appId)).toBeVisible()
  await page.getByRole('searchbox', { name: 'Search apps' }).fill('teapot')
  await expect(page.getByText('Kettle 1', { exact: true })).toHaveCount(0)
  await expect(row(page, oldest.appId)).toBeVisible()

  await page.goto('/licenses?dialog=generate')
  const form = dialog(page, 'Generate License')
  await find(page, form.getByRole('combobox', { name: 'Application' }), 'teap', 'Teapot')
  await form.getByRole('button', { name: 'Generate License' }).click()
  await expectToast(page, 'Licenses Generated')
  const { licenses } = await vendor.call('GET', '/licenses')
  await page.goto('/licenses')
  await find(page, page.getByRole('combobox', { name: 'App', exact: true }), 'kettle 77', 'Kettle 77')
  await expect(page.getByText('No licenses found')).toBeVisible()
  await find(page, page.getByRole('combobox', { name: 'App', exact: true }), 'TEA', 'Teapot')
  await expect(row(page, keyPrefix(licenses[0].key))).toBeVisible()
  await page.reload()
  await expect(page.getByRole('combobox', { name: 'App', exact: true })).toHaveText('Teapot')
  await expect(row(page, keyPrefix(licenses[0].key))).toBeVisible()

  await openPalette(page)
  await page.getByRole('combobox', { name: 'Search or go to' }).fill('teapot')
  await page
    .getByRole('option', { name: /Teapot/ })
    .first()
    .click()
  await expect(page.getByRole('heading', { level: 1, name: 'Teapot' })).toBeVisible()
})

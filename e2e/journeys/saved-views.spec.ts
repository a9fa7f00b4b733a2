import type { Page } from '@playwright/test'
import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor, Seller } from '../reseller.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  keyPrefix,
  makePremium,
  openFilters,
  rows,
  settle,
  Vendor,
  visit,
} from '../steps.ts'

const views = (page: Page) => page.getByRole('navigation', { name: 'Saved views' })
const saveView = (page: Page) => page.getByRole('button', { name: 'Save View' })

async function withLicenses(page: Page, vendor: Vendor) {
  const app = await vendor.createApp()
  const [banned] = await vendor.createLicenses(app, 4)
  await vendor.call('PATCH', `/licenses/${banned!._id}/toggle-ban`, { is_banned: true })
  await enter(page, vendor, '/licenses')
  await expect(rows(page)).toHaveCount(4)
  return app
}

test('a view keeps filters, order and columns under a name, and its address opens the same list for a colleague', {
  tag: ['@full', '@phone'],
}, async ({ page, request, browser, baseURL }) => {
  const vendor = await Vendor.signUp(request)
  await withLicenses(page, vendor)
  await openFilters(page)
  await expect(saveView(page)).toBeHidden()
  await choose(page, 'Status', 'Banned')
  await choose(page, 'Order', 'Oldest first')
  await expect(rows(page)).toHaveCount(1)
  await saveView(page).click()
  const naming = dialog(page, 'Save View')
  await expectAccessible(page, 'the name of a view')
  await naming.getByLabel('Name').fill('Abuse')
  await naming.getByRole('button', { name: 'Save' }).click()
  await expectToast(page, 'View Saved')
  const link = views(page).getByRole('link', { name: 'Abuse' })
  await expect(link).toHaveAttribute('aria-current', 'true')
  await expect(saveView(page)).toBeHidden()
  await settle(page)
  await expectAccessible(page, 'saved views')

  await views(page).getByRole('link', { name: 'All' }).click()
  await expect(rows(page)).toHaveCount(4)
  await page.reload()
  await link.click()
  await expect(page).toHaveURL('/licenses?status=banned&sort=oldest')
  await expect(rows(page)).toHaveCount(1)

  const colleague = await (await browser.newContext({ baseURL })).newPage()
  await enter(colleague, vendor, page.url())
  await expect(rows(colleague)).toHaveCount(1)
  await expect(views(colleague)).toHaveCount(0)
  await colleague.context().close()
})

test('a view is renamed and deleted, which Undo takes back, and no two have one name', async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await withLicenses(page, vendor)
  for (const [status, name] of [
    ['Banned', 'Abuse'],
    ['Unused', 'Stock'],
  ] as const) {
    await choose(page, 'Status', status)
    await saveView(page).click()
    await dialog(page, 'Save View').getByLabel('Name').fill(name)
    await page.keyboard.press('Enter')
    await expect(views(page).getByRole('link', { name })).toBeVisible()
  }
  await page.getByRole('button', { name: 'Change the view Stock' }).click()
  await page.getByRole('menuitem', { name: 'Rename View' }).click()
  const renaming = dialog(page, 'Rename View')
  await renaming.getByLabel('Name').fill('Abuse')
  await expect(renaming).toContainText('You already have a view of this name')
  await expect(renaming.getByRole('button', { name: 'Save' })).toBeDisabled()
  await renaming.getByLabel('Name').fill('To sell')
  await page.keyboard.press('Enter')
  await expect(views(page).getByRole('link')).toHaveText(['All', 'Abuse', 'To sell'])
  await page.reload()
  await expect(views(page).getByRole('link')).toHaveText(['All', 'Abuse', 'To sell'])

  await page.getByRole('button', { name: 'Change the view To sell' }).click()
  await page.getByRole('menuitem', { name: 'Delete View' }).click()
  await expect(views(page).getByRole('link')).toHaveText(['All', 'Abuse'])
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(views(page).getByRole('link')).toHaveText(['All', 'Abuse', 'To sell'])

  await test.step('all licenses that match the filters are chosen, changed and restored', async () => {
    makePremium(keyward, vendor)
    for (const amount of [100, 100, 8]) await vendor.createLicenses(app, amount)
    await visit(page, `/licenses?app=${app._id}`)
    // Rows that arrive later would move the chosen ones to the next page.
    await expect(page.getByText('1–25 of 212 licenses')).toBeVisible()
    await page.getByRole('checkbox', { name: 'Select all rows on this page' }).first().check()
    const bar = page.getByRole('region', { name: 'Selected rows' })
    await expect(bar).toContainText('25 licenses selected')
    // In a tall window neither bar nor header covers a row.
    await page.setViewportSize({ width: 1280, height: 2200 })
    await expectStateAccessible(page, 'an offer to choose all')
    await bar.getByRole('button', { name: 'Choose all 212 that match' }).click()
    await expect(bar).toContainText('212 licenses selected')
    await expect(bar.getByRole('button', { name: /^Choose/ })).toHaveCount(0)
    await bar.getByRole('button', { name: 'Ban', exact: true }).click()
    const question = dialog(page, 'Ban 211 licenses?')
    await expect(question).toContainText('1 other selected one is already banned')
    await question.getByRole('button', { name: 'Ban Licenses' }).click()
    await expect(page.locator('[data-sonner-toast]').filter({ hasText: 'Licenses Banned' })).toContainText(
      '211',
    )
    expect((await vendor.call('GET', '/licenses')).stats.banned).toBe(212)
    await page.getByRole('button', { name: 'Undo' }).click()
    await expectToast(page, 'Undone', '211 licenses restored.')
    expect((await vendor.call('GET', '/licenses')).stats.banned).toBe(1)
  })
})

test('the header of a column reverses the order, kept in the URL', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await withLicenses(page, vendor)
  const created = page.getByRole('columnheader', { name: 'Created' })
  await expect(created).toHaveAttribute('aria-sort', 'descending')
  await created.getByRole('button').focus()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL('/licenses?sort=oldest')
  await expect(created).toHaveAttribute('aria-sort', 'ascending')
  await created.getByRole('button').click()
  await expect(page).toHaveURL('/licenses')
  const app = page.getByRole('columnheader', { name: 'App' })
  await app.getByRole('button').click()
  await expect(page).toHaveURL('/licenses?sort=app_a_to_z')
  await expect(app).toHaveAttribute('aria-sort', 'ascending')
  await page.getByRole('columnheader', { name: 'Type' }).getByRole('button').click()
  await expect(page).toHaveURL('/licenses?sort=type_a_to_z')
  await page.getByRole('columnheader', { name: 'Used by' }).getByRole('button').click()
  await expect(page).toHaveURL('/licenses?sort=user_a_to_z')
  await page.goto('/licenses?sort=app_a_to_z&search=abc')
  await expect(app.getByRole('button')).toHaveCount(0)
})

test('lists are filtered by license type and reseller, and sorted by end', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const { licenseType } = await vendor.call('POST', `/apps/${app._id}/license-types`, {
    name: 'Pro',
    term: 'forever',
  })
  const [soon] = await vendor.createLicenses(app, 1, 5)
  await vendor.call('POST', '/licenses', { app: app._id, type: licenseType._id })
  await vendor.createLicenses(app, 1, 50)
  const reseller = await createReseller(vendor, app, 5)
  await (await Seller.signIn(request, reseller)).generate(2)
  await enter(page, vendor, `/licenses?reseller=${reseller._id}`)
  await expect(rows(page)).toHaveCount(2)
  await page.goto(`/licenses?app=${app._id}`)
  await expect(rows(page)).toHaveCount(5)
  await choose(page, 'License type', 'Pro')
  await expect(rows(page)).toHaveCount(1)
  await choose(page, 'License type', 'All types')
  await choose(page, 'Reseller', reseller.email)
  await expect(rows(page)).toHaveCount(2)
  await expectAccessible(page, 'filters by type and reseller')
  await choose(page, 'App', 'All apps')
  await expect(page).toHaveURL('/licenses')
  await expect(rows(page)).toHaveCount(5)
  await page.goto('/licenses?type=lty_00000000000000000000000000000000')
  await expect(page.getByText('License type not found')).toBeVisible()
  await page.getByRole('button', { name: 'Clear Filters' }).click()
  await expect(page).toHaveURL('/licenses')
  await expect(rows(page)).toHaveCount(5)
  const expires = page.getByRole('columnheader', { name: 'Expires' })
  await expires.getByRole('button').click()
  await expect(page).toHaveURL('/licenses?sort=expires_last')
  await expect(rows(page).first()).toContainText('Never')
  await expires.getByRole('button').click()
  await expect(expires).toHaveAttribute('aria-sort', 'ascending')
  await expect(rows(page).first()).toContainText(keyPrefix(soon!.key))
})

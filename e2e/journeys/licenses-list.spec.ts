import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  figure,
  heading,
  keyPrefix,
  openFilters,
  Program,
  row,
  rows,
  Vendor,
} from '../steps.ts'

const deleteAll = (page: Page) => page.getByRole('button', { name: 'Delete All' })

test.describe('the list', () => {
  test('counts total, active, unused and expired', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [used, expired] = await vendor.createLicenses(app, 4)
    await (await Program.start(request, app)).register('erik', used!)
    await vendor.call('PUT', `/licenses/${expired!._id}`, { expiresAt: new Date().toISOString() })
    await enter(page, vendor, '/licenses')
    await expect(figure(page, 'Total')).toContainText('Total4')
    await expect(figure(page, 'Active')).toContainText('Active125% of total')
    await expect(figure(page, 'Unused')).toContainText('Unused2')
    await expect(figure(page, 'Expired')).toContainText('Expired1')
    await expect(row(page, keyPrefix(expired!.key))).toContainText('Expired')
  })

  test('is searched and filtered, and keeps both in the URL across a reload', {
    tag: ['@full', '@phone'],
  }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const [one, two] = [await vendor.createApp('One'), await vendor.createApp('Two')]
    const [used, unused] = await vendor.createLicenses(one, 2)
    await vendor.createLicenses(two, 1)
    await (await Program.start(request, one)).register('erik', used!)
    await enter(page, vendor, '/licenses')
    await expect(rows(page)).toHaveCount(3)

    const filters = page.getByRole('button', { name: /^Filters/ })
    if (await filters.isVisible()) await expect(filters).toHaveText('Filters')
    await openFilters(page)
    await choose(page, 'App', 'One')
    await expect(rows(page)).toHaveCount(2)
    await choose(page, 'Status', 'Active')
    await expect(rows(page)).toHaveCount(1)
    await expect(rows(page)).toContainText('Used by erik')
    await page.reload()
    await expect(rows(page)).toHaveCount(1)
    await expect(rows(page)).toContainText('Used by erik')
    await openFilters(page)
    await expect(page.getByRole('combobox', { name: 'App' })).toHaveText('One')
    await expect(page.getByRole('combobox', { name: 'Status' })).toHaveText('Active')

    await page.getByRole('searchbox').fill(unused!.key.slice(6, 17))
    await expect(page.getByText('No licenses found')).toBeVisible()
    await choose(page, 'Status', 'All statuses')
    await expect(rows(page)).toHaveCount(1)
    await expect(rows(page)).toContainText(keyPrefix(unused!.key))
    await page.reload()
    await openFilters(page)
    await expect(page.getByRole('searchbox')).toHaveValue(unused!.key.slice(6, 17))
    await expect(rows(page)).toHaveCount(1)
    await expect(rows(page)).toContainText(keyPrefix(unused!.key))

    await page.getByRole('searchbox').fill('nothing is called so')
    await page.getByRole('button', { name: 'Clear Filters' }).click()
    await expect(rows(page)).toHaveCount(3)
    await expect(page).toHaveURL('/licenses')
  })

  test('has pages, kept in the URL and reversed by Back', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createLicenses(await vendor.createApp(), 30)
    await enter(page, vendor, '/licenses')
    await expect(rows(page)).toHaveCount(25)
    await expect(page.getByText('1–25 of 30 licenses')).toBeVisible()
    await page.getByRole('button', { name: 'Next' }).click()
    await expect(rows(page)).toHaveCount(5)
    await expect(page.getByText('26–30 of 30 licenses')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Next' })).toBeDisabled()
    await page.reload()
    await expect(rows(page)).toHaveCount(5)
    await page.goBack()
    await expect(rows(page)).toHaveCount(25)
    await page.goto('/licenses?page=9')
    await expect(rows(page)).toHaveCount(5)
  })

  test('Delete All confirms, deletes, reports the count, and then reports an empty list', {
    tag: '@full',
  }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createLicenses(await vendor.createApp(), 3)
    await enter(page, vendor, '/licenses')
    await deleteAll(page).click()
    const question = dialog(page, 'Delete All Licenses')
    await expect(question).toContainText('cannot be undone')
    const confirm = question.getByRole('button', { name: 'Delete All' })
    await expect(confirm).toBeDisabled()
    await question.getByRole('textbox').fill('delete all')
    await confirm.click()
    await expectToast(page, 'All Licenses Deleted', 'Successfully deleted 3 license(s).')
    await expect(page.getByText('No licenses found')).toBeVisible()
    await deleteAll(page).click()
    await expectToast(page, 'No licenses to delete')
    await expect(question).toBeHidden()
  })

  test('offers to create the first app', { tag: '@full' }, async ({ page, request }) => {
    await enter(page, await Vendor.signUp(request), '/licenses')
    await page.getByRole('main').getByRole('link', { name: 'Create Your First App' }).click()
    await expect(heading(page, /^Welcome/)).toBeVisible()
  })
})

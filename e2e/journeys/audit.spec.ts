import { readFileSync } from 'node:fs'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import {
  choose,
  dialog,
  enter,
  heading,
  mainNavigation,
  navigate,
  openFilters,
  Program,
  row,
  rows,
  Vendor,
} from '../steps.ts'
import { addMember } from '../team.ts'

/** A vendor with an app and licenses, one of which was banned and extended. */
async function busyVendor(request: Parameters<typeof Vendor.signUp>[0]) {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license, other] = await vendor.createLicenses(app, 2)
  await vendor.call('PATCH', `/licenses/${license!._id}/toggle-ban`, {
    is_banned: true,
    reason: 'chargeback',
  })
  await vendor.call('PUT', `/licenses/${other!._id}`, { expiresAt: '2031-05-06T12:00:00Z', note: 'VIP' })
  return { vendor, app, license: license!, other: other! }
}

test('shows who changed what, filters, searches and exports it', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
}) => {
  const { vendor, app, license, other } = await busyVendor(request)
  await enter(page, vendor)
  await navigate(page, 'Audit')
  await expect(heading(page, 'Audit')).toBeVisible()
  await expect(rows(page)).toHaveText([
    /License changed/,
    /License expiry changed/,
    /License banned/,
    /Licenses created/,
    /App created/,
    /Account registered/,
  ])
  await expect(page.getByText('6 records, times in UTC')).toBeVisible()
  const banned = row(page, 'License banned')
  await expect(banned.getByRole('link', { name: license.key })).toHaveAttribute(
    'href',
    `/licenses/${license._id}`,
  )
  await expect(banned.locator('time')).toHaveAttribute('title', /, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
  await expectAccessible(page, 'the audit log')

  await row(page, 'License expiry changed').getByRole('button', { name: 'Details' }).click()
  const record = dialog(page, 'License expiry changed')
  await expect(record.getByRole('table', { name: 'Before and after' })).toContainText('May 06, 2031')
  await expect(record).toContainText(other.key)
  await expectAccessible(page, 'a record')
  await page.reload()
  await record.getByRole('button', { name: 'All of This License' }).click()
  await expect(page).toHaveURL(`/audit?subject=${other._id}`)
  await expect(rows(page)).toHaveText([/License changed/, /License expiry changed/])
  await expect(page.getByText(`About ${other.key}`)).toBeVisible()
  await openFilters(page)
  await choose(page, 'Who', 'Programs')
  await expect(page.getByText('No records found')).toBeVisible()
  await choose(page, 'Who', 'People')
  await expect(page).toHaveURL(`/audit?subject=${other._id}&actor=people`)
  await expect(rows(page)).toHaveText([/License changed/, /License expiry changed/])
  await page.getByRole('button', { name: 'All Records' }).click()
  await expect(page).toHaveURL('/audit?actor=all')
  await expect(rows(page)).toHaveCount(6)
  await page.getByRole('searchbox', { name: 'Search the audit log' }).fill('chargeback')
  await expect(page).toHaveURL('/audit?actor=all&search=chargeback')
  await expect(rows(page)).toHaveText([/License banned/])
  await page.getByRole('searchbox', { name: 'Search the audit log' }).fill('')
  await expect(rows(page)).toHaveCount(6)
  await choose(page, 'Action', 'App created')
  await expect(page).toHaveURL('/audit?actor=all&action=app.created')
  await expect(rows(page)).toHaveText([/App created/])
  await page.getByLabel('From').fill('2099-01-01')
  await expect(page.getByText('No records found')).toBeVisible()
  await expectAccessible(page, 'an empty audit log')
  await page.getByRole('button', { name: 'Clear Filters' }).click()
  await expect(page).toHaveURL('/audit')

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const file = readFileSync(await (await download).path(), 'utf8')
  expect(file.trim().split('\r\n')).toHaveLength(7)
  expect(file).toContain(`License banned,license.banned,license,${license.key}`)
  expect(file).toContain(app.name)
})

test('follows what others change, and says why there is nothing', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/audit')
  await expect(rows(page)).toHaveText([/Account registered/])
  const app = await vendor.createApp()
  await expect(rows(page).first()).toContainText('App created')
  // What a program did is one click away.
  const [license] = await vendor.createLicenses(app)
  await (await Program.start(request, app)).register('rosa', license!)
  await expect(page.getByRole('combobox', { name: 'Who' })).toHaveText(/^People/)
  await expect(rows(page)).toHaveText([/Licenses created/, /App created/, /Account registered/])
  await choose(page, 'Who', 'Programs')
  await expect(rows(page).first()).toContainText('rosa')
  await page.route('**/api/audit?*', (route) => route.abort())
  await page.goto('/audit?search=abc')
  await expect(page.getByText('Failed to load the audit log')).toBeVisible()
  await page.unroute('**/api/audit?*')
  await page.getByRole('button', { name: 'Try Again' }).click()
  await expect(page.getByText('No records found')).toBeVisible()
})

test('a role without the audit log sees no entry and no records', async ({ page, request }) => {
  const { vendor } = await busyVendor(request)
  const support = await addMember(request, vendor, { role: 'support' })
  await enter(page, support)
  await expect(mainNavigation(page).getByRole('link', { name: 'Licenses' })).toBeVisible()
  await expect(mainNavigation(page).getByRole('link', { name: 'Audit' })).toHaveCount(0)
  await page.goto('/audit')
  await expect(page.getByText('Your role does not include this page')).toBeVisible()
})

test('a manager sees that somebody was invited, but not whom', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const { vendor } = await busyVendor(request)
  const manager = await addMember(request, vendor, { role: 'manager' })
  await enter(page, manager, '/audit?action=member.invited')
  await row(page, 'Member invited').getByRole('button', { name: 'Details' }).click()
  await expect(dialog(page, 'Member invited')).toContainText('Your role does not include the details.')
})

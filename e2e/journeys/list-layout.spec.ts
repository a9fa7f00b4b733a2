import type { Page } from '@playwright/test'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import { enter, figure, heading, keyPrefix, Program, row, rows, settle, Vendor, visit } from '../steps.ts'

const header = (page: Page, name: string) => page.getByRole('columnheader', { name })

test('lists use the window up to 1,600 pixels, pages of one item stay narrower', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const [license] = await vendor.createLicenses(await vendor.createApp(), 3)
  await page.setViewportSize({ width: 2200, height: 900 })
  await enter(page, vendor, '/licenses')
  const width = async () => (await page.locator('main').boundingBox())!.width
  for (const path of ['/licenses', '/users', '/customers', '/resellers', '/activity', '/audit']) {
    await visit(page, path)
    expect.soft(await width(), path).toBe(1600)
  }
  for (const path of [`/licenses/${license!._id}`, '/settings']) {
    await visit(page, path)
    expect.soft(await width(), path).toBeLessThan(1200)
  }
  await page.setViewportSize({ width: 1600, height: 900 })
  await visit(page, '/licenses')
  expect(await width()).toBeGreaterThan(1300)
})

test('a list links its first, neighboring and last pages, and jumps to a typed one', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  for (let made = 0; made < 200; made += 100) await vendor.createLicenses(app, 100)
  await vendor.createLicenses(app, 30)
  await enter(page, vendor, '/licenses?page=5')
  const pages = page.getByRole('navigation', { name: 'Pages of licenses' })
  await expect(pages.getByRole('listitem')).toHaveText(['1', '…', '4', '5', '6', '…', '10'])
  await expect(pages.getByRole('button', { name: 'Page 5' })).toHaveAttribute('aria-current', 'page')
  await expectAccessible(page, 'many pages')
  await pages.getByRole('button', { name: 'Page 10' }).click()
  await expect(page).toHaveURL('/licenses?page=10')
  await expect(rows(page)).toHaveCount(5)
  await page.goBack()
  await expect(page).toHaveURL('/licenses?page=5')
  const jump = pages.getByRole('textbox', { name: 'Go to page, 1 to 10' })
  await jump.fill('3')
  await jump.press('Enter')
  await expect(page).toHaveURL('/licenses?page=3')
  await jump.fill('99')
  await jump.press('Enter')
  await expect(page).toHaveURL('/licenses?page=10')
})

test('on a phone the pages have a short form', { tag: '@phone-only' }, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  await vendor.createLicenses(app, 60)
  await enter(page, vendor, '/licenses')
  const pages = page.getByRole('navigation', { name: 'Pages of licenses' })
  await expect(pages).toContainText('1 / 3')
  await expect(pages.getByRole('button', { name: /^Page/ })).toHaveCount(0)
  await pages.getByRole('button', { name: 'Next' }).click()
  await expect(pages).toContainText('2 / 3')
  await expect(rows(page).nth(1)).toBeInViewport()
  await expect(pages).not.toBeInViewport()
  await expect(page.locator('section:focus')).toContainText('2 / 3')
  await pages.getByRole('combobox', { name: 'Rows per page' }).selectOption('100')
  await expect(rows(page)).toHaveCount(60)
})

test('only a filter that fixes a column hides it, until the user shows it', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('One')
  await vendor.call('POST', '/licenses', { app: app._id, expiresAt: null, count: 2 })
  await enter(page, vendor, '/licenses')
  await expect(rows(page)).toHaveCount(2)
  for (const name of ['App', 'Type', 'Used by', 'Created', 'Expires'])
    await expect(header(page, name)).toBeVisible()
  await page.goto(`/licenses?app=${app._id}`)
  await expect(rows(page)).toHaveCount(2)
  await expect(header(page, 'App')).toHaveCount(0)
  await page.getByRole('button', { name: 'Columns and density' }).click()
  const choice = page.getByRole('menuitemcheckbox', { name: 'App' })
  await expect(choice).toHaveAttribute('aria-checked', 'false')
  await choice.click()
  await page.keyboard.press('Escape')
  await expect(header(page, 'App')).toBeVisible()
  await page.reload()
  await expect(header(page, 'App')).toBeVisible()
})

test('the numbers of the console open the lists that they count', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const other = await vendor.createApp('Other')
  const [one, two, past, blocked, bannedPast] = await vendor.createLicenses(app, 9)
  await vendor.createLicenses(other, 2)
  const program = await Program.start(request, app)
  await program.register('amy', one!)
  await program.register('erik', two!)
  const { clients } = await vendor.call('GET', '/clients')
  await vendor.call('PATCH', `/clients/${clients[0]._id}/toggle-ban`, { is_banned: true })
  await vendor.call('PUT', `/licenses/${past!._id}`, { expiresAt: new Date().toISOString() })
  const soon = new Date(Date.now() + 3 * 86_400_000).toISOString()
  await vendor.call('PUT', `/licenses/${one!._id}`, { expiresAt: soon })
  await createReseller(vendor, app)
  await vendor.call('PUT', `/licenses/${bannedPast!._id}`, { expiresAt: new Date().toISOString() })
  for (const { _id } of [two!, blocked!, bannedPast!]) {
    await vendor.call('PATCH', `/licenses/${_id}/toggle-ban`, { is_banned: true })
  }

  await enter(page, vendor, '/dashboard')
  for (const [from, name, title, url] of [
    ['/dashboard', 'Total Licenses', 'Licenses', '/licenses'],
    ['/dashboard', 'Active Licenses', 'Licenses', '/licenses?status=active'],
    ['/dashboard', 'Expiring Soon', 'Licenses', '/licenses?status=expiring'],
    ['/dashboard', 'End Users', 'End Users', '/users'],
    ['/dashboard', 'Resellers', 'Resellers', '/resellers'],
    ['/licenses', 'Active', 'Licenses', '/licenses?status=active'],
    ['/licenses', 'Unused', 'Licenses', '/licenses?status=unused'],
    ['/licenses', 'Expired', 'Licenses', '/licenses?status=expired'],
    ['/licenses?status=active&page=1', 'Total', 'Licenses', '/licenses'],
    [`/licenses?app=${app._id}`, 'Unused', 'Licenses', `/licenses?app=${app._id}&status=unused`],
    ['/users', 'Active', 'End Users', '/users?status=active'],
    ['/users', 'Banned', 'End Users', '/users?status=banned'],
    ['/resellers?status=active', 'Total Resellers', 'Resellers', '/resellers'],
    [`/apps/${app._id}`, 'Licenses', 'Licenses', `/licenses?app=${app._id}`],
    [`/apps/${app._id}`, 'Unused', 'Licenses', `/licenses?app=${app._id}&status=unused`],
    [`/apps/${app._id}`, 'End users', 'End Users', `/users?app=${app._id}`],
    [`/apps/${app._id}`, 'Resellers', 'Resellers', `/resellers?app=${app._id}`],
  ] as const) {
    await (from.includes('?') ? page.goto(from) : visit(page, from))
    const card = figure(page, name)
    const value = card.getByRole('paragraph').first()
    await expect(value).toHaveText(/^\d+$/)
    const counted = await value.innerText()
    await card.getByRole('link', { name, exact: true }).click()
    await expect(page).toHaveURL(url)
    await expect(heading(page, title)).toBeVisible()
    const word = title === 'Licenses' ? 'license' : title === 'Resellers' ? 'reseller' : 'end user'
    const shown = page.getByText(new RegExp(`^1–${counted} of ${counted} ${word}s?$`))
    await expect(shown, `${from} ${name}`).toBeVisible()
    if (url.includes('/licenses?status=')) await expect(rows(page).getByText('Banned')).toHaveCount(0)
  }
})

test('the numbers of the portal open its licenses, and cards with links are accessible', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const [license] = await vendor.createLicenses(app, 2)
  const seller = await Seller.signIn(request, await createReseller(vendor, app, 5))
  await seller.generate(2)
  await enter(page, vendor, '/licenses')
  await expect(row(page, keyPrefix(license!.key))).toBeVisible()
  await settle(page)
  await expectAccessible(page, 'cards with links')
  const link = figure(page, 'Active').getByRole('link', { name: 'Active' })
  await link.focus()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL('/licenses?status=active')

  await enterPortal(page, seller)
  await figure(page, 'Total Generated').getByRole('link', { name: 'Total Generated' }).click()
  await expect(page).toHaveURL('/reseller/licenses')
  await expect(page.getByText('1–2 of 2 licenses')).toBeVisible()
})

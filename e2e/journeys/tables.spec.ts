import type { Page } from '@playwright/test'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { phone } from '../repeated.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import { addShop, sell } from '../shop.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  keyPrefix,
  Program,
  row,
  rowAction,
  rows,
  settle,
  unique,
  Vendor,
  visit,
} from '../steps.ts'

test('no table cuts off a date or squeezes a column at 1280 pixels, even with names of 80 characters', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  const app = await vendor.createApp(long('An application'))
  const type = await vendor.call('POST', `/apps/${app._id}/license-types`, {
    name: long('A type').slice(0, 60),
    term: 'forever',
  })
  const { license } = await vendor.call('POST', '/licenses', { app: app._id, type: type.licenseType._id })
  await vendor.createLicenses(app)
  await vendor.call('POST', '/customers', { email: `${'a'.repeat(60)}@engines.example`, name: long('Ada') })
  await vendor.call('POST', '/api-keys', {
    name: long('A key').slice(0, 64),
    permissions: ['licenses:read', 'apps:read'],
  })
  await vendor.call('POST', '/licenses', {
    app: app._id,
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    note: 'A note that goes on for longer than its place in the table is wide',
  })
  const username = unique('somebody-with-a-long-name')
  await (await Program.start(request, app)).register(username, license, 'a-machine')
  const credentials = await createReseller(vendor, app, 10_000)
  const seller = await Seller.signIn(request, credentials)
  const [newLicense] = await seller.generate(3)
  await seller.call('POST', '/licenses', {
    ...{ count: 1, note: long('A note') },
    expiresAt: newLicense!.expiresAt,
  })
  await (await Program.start(request, app)).register(unique('another-with-a-long-name'), newLicense!)

  const shop = await addShop(vendor, app, [{ product: 'pro', type: type.licenseType._id }])
  const email = `${'b'.repeat(60)}@engines.example`
  await sell(request, shop, {
    order: long('Order'),
    product: 'unknown',
    email,
    amount: 123_456,
    currency: 'EUR',
  })
  await sell(request, shop, { order: long('Another'), product: 'pro', email, amount: 9_900, currency: 'EUR' })

  await enter(page, vendor, '/dashboard')
  for (const path of [
    '/dashboard',
    '/resellers',
    '/licenses',
    '/licenses?status=active',
    '/users',
    '/customers',
    '/orders',
    '/subscription',
    '/settings/api-keys',
    '/audit',
    '/activity',
  ])
    await expectWhole(page, path)
  const address = page.locator('td code').filter({ hasText: '127.0.0.1' }).first()
  expect((await address.boundingBox())!.height, 'the address is in one line').toBeLessThan(24)
  await enterPortal(page, seller)
  await expectWhole(page, '/reseller/licenses')
})

const long = (name: string) => `${name} with a name of eighty characters${'x'.repeat(80)}`.slice(0, 80)

async function expectWhole(page: Page, path: string) {
  await visit(page, path)
  await settle(page)
  const tables = page.locator('div:has(> table)')
  const hidden = await tables.evaluateAll((boxes) => boxes.map((box) => box.scrollWidth - box.clientWidth))
  expect.soft(hidden, path).toEqual(hidden.map(() => 0))
  const narrow = await page.locator('thead th:not(.sr-only)').evaluateAll((heads) =>
    heads
      .filter(
        (head) => head.checkVisibility() && head.textContent && !head.querySelector(':scope > .sr-only'),
      )
      .map((head) => ({ name: head.textContent, width: Math.round(head.getBoundingClientRect().width) }))
      .filter(({ name, width }) => width < (name === 'App' || name === 'Key' ? 120 : 72)),
  )
  expect.soft(narrow, path).toEqual([])
  // Names may have an ellipsis, but dates may not.
  const dates = page.locator('td time')
  const cut = await dates.evaluateAll((found) =>
    found
      .map((date) => date.parentElement!)
      .filter((line) => line.scrollWidth > line.clientWidth)
      .map((line) => line.textContent),
  )
  expect.soft(cut, path).toEqual([])
}

const rowsOf = (page: Page) => page.getByRole('main').locator('tbody tr')
const topOf = async (page: Page) => (await rowsOf(page).first().boundingBox())!.y

test('columns and density are chosen per table and remembered per account', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 2)
  await vendor.createEndUser(app, 'erik')
  await enter(page, vendor, '/licenses')
  const first = row(page, keyPrefix(license!.key))
  const heightOf = async () => Math.round((await first.boundingBox())!.height)
  expect(await heightOf()).toBeLessThanOrEqual(45)
  const choice = page.getByRole('button', { name: 'Columns and density' })
  await choice.click()
  await expect(page.getByRole('menuitemcheckbox')).toHaveText([
    'Status',
    'App',
    'Type',
    'Used by',
    'Created',
    'Expires',
  ])
  await expectAccessible(page, 'the choice of columns')
  await page.getByRole('menuitemcheckbox', { name: 'Created' }).click()
  await page.getByRole('menuitemradio', { name: 'Compact' }).click()
  await page.keyboard.press('Escape')
  await expect(choice).toBeFocused()
  const created = page.getByRole('columnheader', { name: 'Created' })
  await expect(created).toHaveCount(0)
  expect(await heightOf()).toBeLessThanOrEqual(37)
  await page.reload()
  await expect(first).toBeVisible()
  await expect(created).toHaveCount(0)
  expect(await heightOf()).toBeLessThanOrEqual(37)
  await page.goto('/users')
  await expect(page.getByRole('columnheader', { name: 'Joined' })).toBeVisible()
  expect((await row(page, 'erik').boundingBox())!.height).toBeGreaterThan(42)

  const other = await Vendor.signUp(request)
  await other.createLicenses(await other.createApp())
  await enter(page, other, '/licenses')
  await expect(created).toBeVisible()
})

test('rows are walked, selected and opened with the keyboard, and the header stays in sight', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createLicenses(await vendor.createApp(), 26)
  await enter(page, vendor, '/licenses')
  const rows = rowsOf(page)
  await expect(rows).toHaveCount(25)
  // The page may handle keys only some time after it shows the rows; a second key would move on.
  await expect(async () => {
    if ((await rows.and(page.locator(':focus')).count()) === 0) await page.keyboard.press('j')
    await expect(rows.nth(0)).toBeFocused({ timeout: 2000 })
  }).toPass()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('j')
  await expect(rows.nth(2)).toBeFocused()
  await page.keyboard.press('k')
  await expect(rows.nth(1)).toBeFocused()
  await expectAccessible(page, 'a focused row')
  await page.keyboard.press('x')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await expect(page.getByRole('region', { name: 'Selected rows' })).toContainText('2 licenses selected')
  await page.keyboard.press('End')
  await expect(rows.nth(24)).toBeFocused()
  await expect(rows.nth(24)).toBeInViewport()
  await expect(page.getByRole('columnheader', { name: 'Created' })).toBeInViewport()
  await page.keyboard.press('ArrowDown')
  await expect(rows.nth(24)).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/licenses\/lic_[0-9a-f]+$/)
  await page.goBack()
  await expect(rows).toHaveCount(25)

  const search = page.getByRole('searchbox')
  await search.focus()
  await page.keyboard.type('jk')
  await expect(search).toHaveValue('jk')
  await page.evaluate(`localStorage.setItem('keyward-single-keys', 'off')`)
  await page.goto('/licenses')
  await expect(rows).toHaveCount(25)
  await rows.nth(0).focus()
  await page.keyboard.press('j')
  await expect(rows.nth(0)).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await expect(rows.nth(1)).toBeFocused()
})

test('a list has one main action, and a quiet Delete All that is not first', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const seller = await Seller.signIn(request, await createReseller(vendor, app, 5))
  await seller.generate(1)
  await enter(page, vendor, '/licenses')
  const header = page.getByRole('main').locator('header').first().getByRole('button')
  await expect(header).toHaveText(['', 'New Sale', 'Delete All', 'Generate License'])
  await expect(page.getByRole('button', { name: 'More actions' })).toBeVisible()
  await enterPortal(page, seller, '/reseller/licenses')
  await expect(header).toHaveText(['Refresh', '', 'Delete All', 'Generate License'])
})

test('on a phone a list starts above the middle of the screen, with its main action at the bottom', {
  tag: '@phone-only',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const free = await Vendor.signUp(request)
  await free.createLicenses(await free.createApp(), 2)
  const licenses = await vendor.createLicenses(app, 2)
  await vendor.call('POST', '/customers', { email: 'ada@engines.example' })
  await (await Program.start(request, app)).register('erik', licenses[0]!)
  const seller = await Seller.signIn(request, await createReseller(vendor, app, 5))
  await seller.generate(2)
  for (const [path, main] of [
    ['/licenses', 'Generate License'],
    ['/users', 'Create End User'],
    ['/customers', 'Add Customer'],
    ['/resellers', 'Add Reseller'],
  ] as const) {
    await enter(page, vendor, path)
    await settle(page)
    expect.soft(await topOf(page), path).toBeLessThan(350)
    const action = page.getByRole('button', { name: main })
    await expect(action).toBeInViewport({ ratio: 1 })
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await expect(action).toBeInViewport({ ratio: 1 })
    await expectAccessible(page, `${path} on a phone`)
  }
  await enter(page, free, '/licenses')
  await settle(page)
  expect.soft(await topOf(page), 'free plan').toBeLessThan(350)
  await enterPortal(page, seller, '/reseller/licenses')
  await settle(page)
  expect.soft(await topOf(page), 'portal').toBeLessThan(350)
  const [action, tab] = [
    page.getByRole('button', { name: 'Generate License' }),
    page.getByRole('navigation', { name: 'Main' }),
  ]
  await page
    .getByRole('button', { name: /^Copy license key/ })
    .first()
    .click()
  const toast = page.locator('[data-sonner-toast]')
  await expect(toast).toContainText('License key copied to clipboard')
  const [above, button, below] = [
    await toast.boundingBox(),
    await action.boundingBox(),
    await tab.boundingBox(),
  ]
  expect(above!.y + above!.height).toBeLessThanOrEqual(button!.y)
  expect(button!.y + button!.height).toBeLessThanOrEqual(below!.y)
})

test('filters are behind a button with their count on a phone, and the search is beside it', {
  tag: '@full',
}, async ({ page, request }) => {
  await page.setViewportSize(phone)
  const vendor = await Vendor.signUp(request)
  await vendor.createLicenses(await vendor.createApp(), 2)
  await enter(page, vendor, '/licenses')
  const button = page.getByRole('button', { name: /^Filters/ })
  await expect(button).toHaveAttribute('aria-expanded', 'false')
  await expect(page.getByRole('searchbox')).toBeVisible()
  await button.click()
  await choose(page, 'Status', 'Unused')
  await choose(page, 'Order', 'Oldest first')
  await expect(button).toHaveAccessibleName('Filters 1 active')
  await button.click()
  await expect(page.getByRole('combobox', { name: 'Status' })).toBeHidden()
  await page.reload()
  await expect(button).toHaveText(/^Filters1 active$/)
  for (const path of ['/audit', '/activity']) {
    await visit(page, path)
    await button.click()
    const day = page.getByLabel('To', { exact: true })
    await expect(day).toBeVisible()
    const ends = [await day.boundingBox(), await page.locator('header', { has: day }).boundingBox()].map(
      (box) => box!.x + box!.width,
    )
    expect.soft(ends[0], `${path}: the days end inside the list`).toBeLessThan(ends[1]!)
  }
})

test('explainers are open for newcomers, and closed for good once they have done their job', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  await enter(page, vendor, '/resellers')
  const explained = page.getByText('Their own portal')
  await expect(explained).toBeVisible()
  const reseller = await createReseller(vendor, app)
  await expect(row(page, reseller.email)).toBeVisible()
  await expect(explained).toBeHidden()
  await vendor.call('DELETE', `/resellers/${reseller._id}`)
  await page.reload()
  await expect(page.getByText('No resellers yet')).toBeVisible()
  await expect(page.getByText('What resellers do')).toBeVisible()
  await expect(explained).toBeHidden()
  await page.getByText('What resellers do').click()
  await expect(explained).toBeVisible()

  await page.goto('/users')
  await expect(page.getByText('What your program sends')).toBeVisible()
  await page.getByText('How registration works').click()
  await page.reload()
  await expect(page.getByText('How registration works')).toBeVisible()
  await expect(page.getByText('What your program sends')).toBeHidden()
})

test('a search takes no more text than the server accepts', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createLicenses(await vendor.createApp())
  await enter(page, vendor, '/licenses')
  const paste = () => page.keyboard.insertText('x'.repeat(5000))
  await page.getByRole('searchbox', { name: /Search/ }).focus()
  await paste()
  await expect(page.getByText('No licenses found')).toBeVisible()
  await page.getByRole('button', { name: /Search or go to/ }).click()
  await expect(page.getByRole('combobox', { name: 'Search or go to' })).toBeFocused()
  await paste()
  await expect(page.getByRole('combobox', { name: 'Search or go to' })).toHaveValue('x'.repeat(100))
  await expect(page.getByText('Failed to search your lists.')).toHaveCount(0)
})

test('a list that is too long for its order offers the newest first', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createLicenses(await vendor.createApp())
  // As the server answers more than 10,000 rows.
  const message = 'Lists of more than 10000 rows cannot be sorted by user.'
  const refusal = { success: false, code: 'invalid_input', message, errors: [{ path: 'sort', message }] }
  await page.route(/\/api\/licenses\?.*sort=user/, (route) => route.fulfill({ status: 400, json: refusal }))
  await enter(page, vendor, '/licenses?sort=user_a_to_z')
  await expect(page.getByText(message)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Try Again' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Newest First' }).click()
  await expect(rows(page)).toHaveCount(1)
  await expect(page).toHaveURL('/licenses')
})

test('a page has as many rows as somebody chose, and all licenses of a type are extended at once', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  const app = await vendor.createApp('Abacus')
  const other = await vendor.createApp('Other')
  const { licenseType } = await vendor.call('POST', `/apps/${app._id}/license-types`, {
    ...{ name: 'Home', term: 'first_use', duration: { value: 1, unit: 'months' } },
  })
  await vendor.call('POST', '/licenses', { app: app._id, type: licenseType._id, count: 2 })
  const [ended] = (await vendor.call('POST', '/licenses', { app: app._id, type: licenseType._id, count: 1 }))
    .licenses
  await (await Program.start(request, app)).register('rosa', ended)
  await vendor.createLicenses(other, 30)
  await enter(page, vendor, '/licenses')
  await expect(rows(page)).toHaveCount(25)
  const search = page.getByRole('searchbox', { name: 'Search licenses' })
  await expect(search).toBeVisible()
  const isCut = await page.evaluate(`(() => {
    const field = document.querySelector('input[aria-label="Search licenses"]')
    const { font, paddingLeft, paddingRight } = getComputedStyle(field)
    const pen = document.createElement('canvas').getContext('2d')
    pen.font = font
    const inside = field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
    return pen.measureText(field.placeholder).width > inside
  })()`)
  expect(isCut).toBe(false)
  await page.getByRole('combobox', { name: 'Rows per page' }).selectOption('50')
  await expect(rows(page)).toHaveCount(33)
  await visit(page, '/customers')
  await visit(page, '/licenses')
  await expect(rows(page)).toHaveCount(33)

  await choose(page, 'License type', 'Home · Abacus')
  await expect(rows(page)).toHaveCount(3)
  await expect(page.getByRole('combobox', { name: 'App' })).toContainText('Abacus')
  await visit(page, `/apps/${app._id}?tab=types`)
  await page.getByRole('link', { name: 'Extend all licenses of Home' }).click()
  // Two have not begun, and end later by themselves.
  const form = dialog(page, 'Extend 1 license')
  await form.getByText('+ 7 days').click()
  await expect(form).toContainText('2 never expire or were not used yet, and stay unchanged.')
  await form.getByRole('button', { name: 'Extend Licenses' }).click()
  await expectToast(page, 'Licenses Extended')
  const endOf = async () => Date.parse((await vendor.call('GET', `/licenses/${ended._id}`)).license.expiresAt)
  const first = await endOf()
  // The list of apps extends all licenses of one.
  await visit(page, '/dashboard')
  await rowAction(page, 'Abacus', 'Extend Licenses…')
  await form.getByText('+ 7 days').click()
  await form.getByRole('button', { name: 'Extend Licenses' }).click()
  await expectToast(page, 'Licenses Extended')
  expect(await endOf()).toBe(first + 7 * 86_400_000)
})

test('rows of another order are dimmed until the new ones arrive', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createLicenses(await vendor.createApp())
  await enter(page, vendor, '/licenses')
  await expect(rows(page)).toHaveCount(1)
  const { promise: held, resolve: go } = Promise.withResolvers<void>()
  await page.route(/\/api\/licenses\?.*sort=/, async (route) => {
    await held
    await route.continue()
  })
  const busy = page.locator('section[aria-busy=true]')
  await visit(page, '/licenses?sort=user_a_to_z')
  await expect(busy.locator('tbody')).toHaveCSS('opacity', '0.5')
  go()
  await expect(busy).toHaveCount(0)
  await expect(rows(page)).toHaveCount(1)
})

for (const [log, filter] of [
  ['audit', 'action=app.created'],
  ['activity', 'code=any'],
] as const) {
  test(`rows of another filter of ${log} are dimmed until the new ones arrive`, { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await Program.start(request, await vendor.createApp())
    const { promise: held, resolve: go } = Promise.withResolvers<void>()
    await page.route(new RegExp(`/api/${log}\\?.*${filter}`), async (route) => {
      await held
      await route.continue()
    })
    await enter(page, vendor, `/${log}`)
    await expect(rows(page).first()).toBeVisible()
    const busy = page.locator('section[aria-busy=true]')
    await visit(page, `/${log}?${filter}`)
    await expect(busy.locator('tbody')).toHaveCSS('opacity', '0.5')
    go()
    await expect(busy).toHaveCount(0)
  })
}

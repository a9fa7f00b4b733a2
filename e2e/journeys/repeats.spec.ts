import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import { dialog, endSession, enter, expectToast, rows, shownDate, signIn, Vendor, visit } from '../steps.ts'

const unreachable = 'The server cannot be reached. Please check your connection.'

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

test('licenses are generated once if the answer is lost and the dialog is submitted again', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await enter(page, vendor, '/licenses?dialog=generate')
  await loseAnswer(page, '/licenses')
  const generate = dialog(page, 'Generate License')
  await generate.getByRole('button', { name: 'Generate License' }).click()
  await expect(page.getByText(unreachable)).toBeVisible()
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

test('an app is created once if the answer is lost and the dialog is submitted again', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/dashboard?dialog=new-app')
  await loseAnswer(page, '/apps')
  const create = dialog(page, 'Add New App')
  await create.getByLabel('App Name').fill('Atlas')
  await create.getByRole('button', { name: 'Create App' }).click()
  await expect(page.getByText(unreachable)).toBeVisible()
  await create.getByRole('button', { name: 'Create App' }).click()
  await expectToast(page, 'App created successfully')
  expect((await vendor.call('GET', '/apps')).count).toBe(1)
})

test('a request that is repeated after another sign-in is carried out once', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const user = await vendor.createEndUser(app, 'hanna', 20)
  await enter(page, vendor, '/licenses?dialog=generate')
  await loseAnswer(page, '/licenses')
  const generate = dialog(page, 'Generate License')
  await generate.getByLabel('Amount').fill('3')
  await generate.getByRole('button', { name: 'Generate License' }).click()
  await expectToast(page, 'Generation Failed', unreachable)
  await vendor.call('POST', '/auth/logout')
  await expect(page).toHaveURL('/auth')
  await signIn(page, vendor)
  await expect(generate.getByLabel('Amount')).toHaveValue('3')
  await generate.getByRole('button', { name: 'Generate License' }).click()
  await expect(dialog(page, 'Licenses Generated')).toContainText('3 keys are ready')
  await page.getByRole('button', { name: 'Done' }).click()
  await expect(rows(page)).toHaveCount(3)

  await visit(page, `/users?dialog=extend&id=${user._id}`)
  await loseAnswer(page, '/clients/bulk', 'POST')
  const extend = dialog(page, 'Extend hanna')
  await extend.getByRole('button', { name: 'Extend' }).click()
  await expectToast(page, 'Extend Failed', unreachable)
  await endSession(page)
  await signIn(page, vendor)
  await extend.getByRole('button', { name: 'Extend' }).click()
  await expectToast(page, 'Subscription Extended', 'hanna has 1 more month.')
  await expect(extend).toBeHidden()
  await expect(page.getByRole('row', { name: /hanna/ })).toContainText(shownDate(monthAfter(user.expiresAt)))
})

test('an end user is extended once if the answer is lost and the dialog is submitted again', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const user = await vendor.createEndUser(app, 'hanna', 20)
  await enter(page, vendor, `/users?dialog=extend&id=${user._id}`)
  await loseAnswer(page, '/clients/bulk', 'POST')
  const extend = dialog(page, 'Extend hanna')
  await extend.getByRole('button', { name: 'Extend' }).click()
  await expect(page.getByText(unreachable)).toBeVisible()
  await extend.getByRole('button', { name: 'Extend' }).click()
  await expect(extend).toBeHidden()
  const [{ expiresAt }] = (await vendor.call('GET', '/clients')).clients
  expect(expiresAt).toBe(monthAfter(user.expiresAt).toISOString())
})

test('a retry of a bulk action whose answer was lost adds the days once', { tag: '@full' }, async ({
  page,
  request,
}) => {
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
  expect(after).toEqual(before.map((time: number) => monthAfter(time).getTime()))
})

test('a bulk action that is submitted twice at once adds the days once', { tag: '@full' }, async ({
  page,
  request,
}) => {
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
  expect(expiryOf(extended)).toBe(monthAfter(license!.expiresAt!).getTime())
})

test('a double click on five forms and on a switch sends one request', async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 1, 10)
  const user = await vendor.createEndUser(app, 'hanna', 20)
  const sent: string[] = []
  page.on('request', (one) => {
    if (one.method() !== 'GET' && one.url().includes('/api/'))
      sent.push(one.headers()['idempotency-key'] ?? '')
  })
  await enter(page, vendor)
  const forms: [path: string, field: string | undefined, button: string, toast: string][] = [
    ['/customers?dialog=create', 'Email', 'Add Customer', 'Customer Added'],
    [`/licenses?dialog=extend&id=${license!._id}`, undefined, 'Extend License', 'License Updated'],
    [`/users?dialog=extend&id=${user._id}`, undefined, 'Extend', 'Subscription Extended'],
    ['/licenses?dialog=generate', undefined, 'Generate License', 'Licenses Generated'],
    ['/dashboard?dialog=new-app', 'App Name', 'Create App', 'App created successfully'],
  ]
  for (const [path, field, button, toast] of forms) {
    await visit(page, path)
    const form = page.getByRole('dialog')
    if (field) await form.getByLabel(field, { exact: true }).fill('anna@example.com')
    sent.length = 0
    await form.getByRole('button', { name: button, exact: true }).dblclick({ noWaitAfter: true })
    await expectToast(page, toast)
    expect(sent, path).toEqual([expect.stringMatching(/^"[0-9a-f]{32}"$/)])
  }

  await visit(page, '/settings')
  const lock = page.getByRole('switch', { name: 'HWID Lock' })
  sent.length = 0
  await lock.dblclick()
  await expect(page.getByText('Settings updated successfully', { exact: true })).toBeVisible()
  await expect(lock).not.toBeChecked()
  // The second half of a slow double click, after the answer.
  await lock.dispatchEvent('click', { detail: 2 })
  await expectToast(page, 'Settings updated successfully')
  expect(sent).toHaveLength(1)
  await expect(page.locator('[data-sonner-toast][data-type="error"]')).toHaveCount(0)
})

/** A calendar month later, on the last day of a month that is shorter. */
function monthAfter(end: string | number): Date {
  const date = new Date(end)
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + 1)
  if (date.getUTCDate() !== day) date.setUTCDate(0)
  return date
}

const expiryOf = ({ expiresAt }: { expiresAt: string }): number => Date.parse(expiresAt)

test("a reseller's licenses are generated once if the answer is lost, even its whole quota after another sign-in", {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const credentials = await createReseller(vendor, app)
  const seller = await Seller.signIn(request, credentials)
  await enterPortal(page, seller, '/reseller/licenses?dialog=generate')
  await loseAnswer(page, '/resellers/auth/licenses')
  const generate = dialog(page, 'Generate License')
  const submit = generate.getByRole('button', { name: 'Generate License' })
  await generate.getByLabel('Number of Licenses').fill('10')
  await submit.click()
  await expect(page.getByText(unreachable)).toBeVisible()
  await expect(generate).toContainText('You can generate 0 more.')
  await seller.call('POST', '/logout')
  await submit.click()
  await expect(page).toHaveURL('/reseller/auth')
  await signIn(page, credentials)
  await expect(generate.getByLabel('Number of Licenses')).toHaveValue('10')
  await submit.click()
  await expect(dialog(page, 'Licenses Generated')).toContainText('10 keys are ready')
  expect((await vendor.call('GET', '/licenses')).stats.total).toBe(10)
})

import type { Page } from '@playwright/test'
import { expect } from '../keyward.ts'
import { test } from '../paying.ts'
import { enter, expectToast, heading, navigate, openMenu, storedToken, Vendor } from '../steps.ts'

const provider = 'https://checkout.razorpay.com'
/** Changes when another document is loaded. */
const documentOf = (page: Page) => page.evaluate<number>('performance.timeOrigin')

test('only the subscription page allows the provider in its Content-Security-Policy', {
  tag: '@full',
}, async ({ request }) => {
  const policyOf = async (path: string) =>
    (await request.get(path)).headers()['content-security-policy'] ?? ''
  expect(await policyOf('/subscription')).toContain(`script-src 'self' ${provider}`)
  for (const path of ['/', '/dashboard', '/profile', '/auth', '/docs', '/no/such/page']) {
    expect(await policyOf(path), path).not.toContain('razorpay')
  }
})

test('the page is entered and left by a full document load', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await enter(page, vendor)
  await expect(heading(page, /^Welcome/)).toBeVisible()
  const seen = [await documentOf(page)]
  const expectAnother = async (path: string, title: string | RegExp) => {
    await expect(page).toHaveURL(path)
    await expect(heading(page, title)).toBeVisible()
    const now = await documentOf(page)
    expect(seen, path).not.toContain(now)
    seen.push(now)
  }
  await navigate(page, 'Subscription')
  await expectAnother('/subscription', 'Subscription')
  await navigate(page, 'Profile')
  await expectAnother('/profile', 'Profile')
  await page.goBack()
  await expectAnother('/subscription', 'Subscription')
  await page.goBack()
  await expectAnother('/dashboard', /^Welcome/)
  await page.goForward()
  await expectAnother('/subscription', 'Subscription')
  // The shortcuts load after the page.
  const search = page.getByRole('combobox', { name: 'Search or go to' })
  await expect(async () => {
    await page.keyboard.press('Control+k')
    await expect(search).toBeVisible({ timeout: 1000 })
  }).toPass()
  await search.fill('settings')
  await page
    .getByRole('option', { name: /^Settings/ })
    .first()
    .click()
  await expectAnother('/settings', 'Settings')
})

test('other navigation does not reload the document', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/profile')
  await expect(heading(page, 'Profile')).toBeVisible()
  const first = await documentOf(page)
  await navigate(page, 'Settings')
  await expect(heading(page, 'Settings')).toBeVisible()
  expect(await documentOf(page)).toBe(first)

  await page.goto('/subscription?dialog=cancel')
  await expect(heading(page, 'Subscription')).toBeVisible()
  const second = await documentOf(page)
  await page.getByRole('button', { name: 'Refresh plans' }).click()
  await expectToast(page, 'Plans refreshed successfully!')
  expect(await documentOf(page)).toBe(second)
})

test('toasts survive the document load', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await page.goto('/subscription')
  await expect(page).toHaveURL('/auth')
  // The prerendered page is inert until its scripts are loaded.
  const form = page.locator('#root:not([inert])')
  await form.getByLabel('Email').fill(vendor.email)
  await form.getByLabel('Password', { exact: true }).fill(vendor.password)
  await form.getByRole('main').getByRole('button', { name: 'Sign In' }).click()
  await expect(page).toHaveURL('/subscription')
  await expect(heading(page, 'Subscription')).toBeVisible()
  await expectToast(page, 'Login Successful', `Welcome back, ${vendor.name}!`)

  await openMenu(page)
  await page.getByRole('button', { name: 'Log Out' }).click()
  await expect(page).toHaveURL('/auth')
  await expectToast(page, 'Logged Out')
  expect(await storedToken(page)).toBeNull()
})

test('without a server the console stays, and continues once it responds', { tag: '@full' }, async ({
  page,
  request,
}) => {
  await enter(page, await Vendor.signUp(request), '/profile')
  await expect(heading(page, 'Profile')).toBeVisible()
  await page.route('**/api/health', (route) => route.abort())
  await navigate(page, 'Subscription')
  await expect(page.getByText('The server cannot be reached')).toBeVisible()
  await page.goBack()
  await expect(heading(page, 'Profile')).toBeVisible()
  await page.goForward()
  await expect(page.getByText('The server cannot be reached')).toBeVisible()
  await page.unroute('**/api/health')
  await expect(heading(page, 'Subscription')).toBeVisible()
})

test('other spellings of the path lead to the page under its own policy', { tag: '@full' }, async ({
  page,
  request,
}) => {
  await enter(page, await Vendor.signUp(request), '/Subscription/?dialog=none')
  await expect(page).toHaveURL('/subscription?dialog=none')
  await expect(heading(page, 'Subscription')).toBeVisible()
})

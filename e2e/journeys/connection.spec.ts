import type { Page, Route } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import { dialog, enter, expectToast, heading, keyPrefix, navigate, row, touch, Vendor } from '../steps.ts'

const unreachable = 'The server cannot be reached. Please check your connection.'
const badge = (page: Page) => page.getByText('You are offline.')
const notice = (page: Page) => page.getByRole('status').filter({ hasText: 'This page shows data from' })

/** A busy browser says that it is offline while its requests still succeed. */
async function goOffline(page: Page) {
  await page.context().setOffline(true)
  const isReached = () => page.evaluate(() => fetch('/api/health').then(Boolean, () => false))
  await expect.poll(isReached).toBe(false)
  await page.evaluate("dispatchEvent(new Event('offline'))")
}

test('a change made offline fails immediately and is not sent later', async ({ page, context, request }) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/settings')
  const lock = page.getByRole('switch', { name: 'HWID Lock' })
  await expect(lock).toBeChecked()
  await touch(lock)

  await goOffline(page)
  await expect(badge(page)).toBeVisible()
  await lock.click()
  await expectToast(page, 'Failed to update settings', unreachable)
  await expect(lock).toBeChecked()

  const writes: string[] = []
  page.on('request', (sent) => sent.method() !== 'GET' && writes.push(sent.url()))
  const settled = page.waitForResponse((answer) => answer.url().endsWith('/api/settings') && answer.ok())
  await context.setOffline(false)
  await settled
  await expect(badge(page)).toBeHidden()
  await expect(lock).toBeChecked()
  expect(writes).toEqual([])
  expect(await vendor.call('GET', '/settings')).toMatchObject({ hwidLock: true })
})

test('a message is shown when the part that shows messages is late, and plainly when it is lost', async ({
  page,
}) => {
  const script = '**/assets/toaster-*.js'
  const signIn = async () => {
    await page.goto('/auth')
    await page.getByLabel('Email').fill('nobody@example.com')
    await page.getByLabel('Password', { exact: true }).fill('not the password')
    await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  }
  let go = () => {}
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  await page.route(script, async (route) => {
    await held
    await route.continue()
  })
  const answered = page.waitForResponse('**/api/auth/login')
  await signIn()
  await answered
  await expect(page.getByText('Login Failed')).toHaveCount(0)
  go()
  await expectToast(page, 'Login Failed', 'Invalid credentials. Please try again.')

  await page.unroute(script)
  for (const lost of [script, '**/api/health']) await page.route(lost, (route) => route.abort())
  await signIn()
  const message = page.getByRole('status').filter({ hasText: 'Login Failed' })
  await expect(message).toContainText('Invalid credentials. Please try again.')
  await expect(message).toHaveCount(0)
})

test('a sign-in opens the console also if a file of it is lost', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request, 'Ida Inn')
  const script = '**/assets/app-*.js'
  await page.goto('/auth')
  let isReloaded = false
  await page.route(script, (route) => (isReloaded ? route.continue() : route.abort()))
  const lost = page.waitForEvent('requestfailed')
  await touch(page.getByLabel('Email'))
  await lost
  await page.getByLabel('Email').fill(vendor.email)
  page.on('request', (sent) => {
    isReloaded ||= sent.isNavigationRequest()
  })
  const reloaded = page.waitForEvent('domcontentloaded')
  await page.getByLabel('Password', { exact: true }).fill(vendor.password)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await reloaded
  await expect(heading(page, 'Welcome, Ida Inn')).toBeVisible()
  await expect(page.getByText('Login Failed')).toHaveCount(0)
})

test('a list that fails to refresh shows the time of its data until it is refreshed', {
  tag: '@full',
}, async ({ page, context, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [first] = await vendor.createLicenses(app)
  await enter(page, vendor, '/licenses')
  await expect(row(page, keyPrefix(first!.key))).toBeVisible()

  await goOffline(page)
  await expect(notice(page)).toContainText(/data from \d+:\d\d [AP]M/)
  await expect(notice(page).getByRole('button', { name: 'Try Again' })).toBeVisible()
  await expect(row(page, keyPrefix(first!.key))).toBeVisible()

  const [second] = await vendor.createLicenses(app)
  await context.setOffline(false)
  await expect(row(page, keyPrefix(second!.key))).toBeVisible()
  await expect(notice(page)).toBeHidden()
  await expect(badge(page)).toBeHidden()
})

test('a list that failed to refresh is refreshed on retry', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  await enter(page, vendor, '/licenses')
  await expect(page.getByText('No licenses found')).toBeVisible()
  await page.route('**/api/licenses?*', (route) =>
    route.fulfill({ status: 403, json: { success: false, code: 'forbidden', message: 'No' } }),
  )
  const [license] = await vendor.createLicenses(app)
  await expect(notice(page)).toContainText('Failed to fetch licenses')
  await page.unroute('**/api/licenses?*')
  await notice(page).getByRole('button', { name: 'Try Again' }).click()
  await expect(row(page, keyPrefix(license!.key))).toBeVisible()
  await expect(notice(page)).toBeHidden()
})

test('a dialog that cannot be loaded leaves the page in place, and opens once the server is back', {
  tag: '@full',
}, async ({ page, context, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app)
  await enter(page, vendor, '/licenses')
  const shown = row(page, keyPrefix(license!.key))
  await expect(shown).toBeVisible()
  await touch(shown)

  await goOffline(page)
  await expect(badge(page)).toBeVisible()
  const generate = page.getByRole('main').getByRole('button', { name: 'Generate License' }).first()
  await generate.click()
  await expectToast(page, 'This could not be opened', 'Check your connection and try again.')
  await expect(shown).toBeVisible()
  await expect(page).toHaveURL('/licenses')
  await shown.getByRole('checkbox').click()
  await expectToast(page, 'This could not be opened', 'Check your connection and try again.')
  await expect(shown).toBeVisible()
  await page.keyboard.press('Control+k')
  await expectToast(page, 'This could not be opened', 'Check your connection and try again.')
  await expect(shown).toBeVisible()

  await context.setOffline(false)
  await expect(badge(page)).toBeHidden()
  await generate.click()
  await expect(dialog(page, 'Generate License')).toBeVisible()
  await expect(page).toHaveURL('/licenses?dialog=generate')
})

test('a page with its own document, opened offline, loads automatically once the server is back', {
  tag: '@full',
}, async ({ page, context, request }) => {
  await enter(page, await Vendor.signUp(request), '/settings')
  await expect(heading(page, 'Settings')).toBeVisible()
  await goOffline(page)
  await navigate(page, 'Subscription')
  await expect(page.getByRole('alert')).toContainText('The server cannot be reached')
  await context.setOffline(false)
  await expect(heading(page, 'Subscription')).toBeVisible()
})

test('the dashboard reports the first failed try while it retries, and goes on once the server responds', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  const failed = new Set<string>()
  const up = Promise.withResolvers<void>()
  // The first try of each query fails, and the next ones wait.
  const fail = async (route: Route) => {
    const { pathname } = new URL(route.request().url())
    if (failed.has(pathname)) {
      await up.promise
      return route.continue()
    }
    failed.add(pathname)
    return route.fulfill({ status: 503, body: '' })
  }
  await page.route(/\/api\/(apps|dashboard|resellers\/dashboard)/, fail)
  await enter(page, vendor)
  const waiting = page.getByRole('status').filter({ hasText: 'Trying again' })
  await expect(waiting).toContainText('HTTP error! status: 503')
  await expect(page.getByRole('alert')).toHaveCount(0)
  up.resolve()
  await expect(row(page, 'Tally')).toBeVisible()
  await expect(waiting).toBeHidden()
})

test('the start reports the first failed try while it retries', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  let tries = 0
  const up = Promise.withResolvers<void>()
  await page.route('**/api/auth/profile', async (route) => {
    tries += 1
    if (tries === 1) return route.fulfill({ status: 503, body: '' })
    await up.promise
    return route.continue()
  })
  await enter(page, vendor, '/settings')
  await expect(page.getByRole('alert').getByRole('button', { name: 'Trying again' })).toBeVisible()
  up.resolve()
  await expect(heading(page, 'Settings')).toBeVisible()
})

test('the portal fails immediately while offline, and generates nothing later', { tag: '@full' }, async ({
  page,
  context,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const seller = await Seller.signIn(request, await createReseller(vendor, app))
  await enterPortal(page, seller, '/reseller/licenses')
  await page.getByRole('main').getByRole('button', { name: 'Generate License' }).first().click()
  const form = page.getByRole('dialog', { name: 'Generate License' })
  await expect(form).toBeVisible()
  await goOffline(page)
  await expect(badge(page)).toBeVisible()
  await form.getByRole('button', { name: 'Generate' }).click()
  await expectToast(page, 'Failed to create licenses', unreachable)
  await context.setOffline(false)
  await expect(badge(page)).toBeHidden()
  expect((await seller.call('GET', '/licenses')).licenses).toEqual([])
})

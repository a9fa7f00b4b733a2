import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import { enter, figure, heading, navigate, row, Vendor } from '../steps.ts'

/** Counts the requests to a path of the API. */
function count(page: Page, path: string) {
  let calls = 0
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === `/api${path}`) calls += 1
  })
  return () => calls
}

const focus = (page: Page) =>
  page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)

test('the dashboard statistics are fetched every 30 seconds, and on return after 10', async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  const figures = count(page, '/resellers/dashboard/data')
  await page.clock.install()
  await enter(page, vendor)
  await expect(figure(page, 'Total Licenses')).toContainText('Total Licenses0')
  const before = figures()
  await page.clock.fastForward(31_000)
  await expect.poll(figures).toBe(before + 1)

  // Statistics are fresh for 10 seconds.
  await navigate(page, 'Settings')
  await expect(heading(page, 'Settings')).toBeVisible()
  await page.clock.fastForward(11_000)
  await navigate(page, 'Dashboard')
  await expect.poll(figures).toBe(before + 2)
})

test('a list of resellers that fails to refresh stays, with an error', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const { email } = await createReseller(vendor, app)
  await page.clock.install()
  await enter(page, vendor, '/resellers')
  await expect(row(page, email)).toBeVisible()
  await page.route('**/api/resellers?*', (route) =>
    route.fulfill({ status: 403, json: { success: false, code: 'forbidden', message: 'No' } }),
  )
  await page.clock.fastForward(31_000)
  await focus(page)
  await expect(page.getByText('Failed to fetch resellers')).toBeVisible()
  await expect(row(page, email)).toBeVisible()
})

test('apps and statistics are refetched 500 ms after sign-in', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  const apps = count(page, '/apps')
  const figures = count(page, '/resellers/dashboard/data')
  await page.clock.install()
  await page.goto('/auth')
  await page.getByLabel('Email').fill(vendor.email)
  await page.getByLabel('Password', { exact: true }).fill(vendor.password)
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 1000)
  expect([apps(), figures()]).toEqual([0, 0])
  await page.getByRole('button', { name: 'Sign In' }).click()
  // Advance a few milliseconds at a time, with real time in between for the server.
  const shown = figure(page, 'Total Licenses').getByText('0', { exact: true })
  for (let step = 0; step < 40 && !(await shown.first().isVisible()); step += 1) {
    await page.clock.runFor(10)
    await shown
      .first()
      .waitFor({ timeout: 50 * (step + 1) })
      .catch(() => {})
  }
  expect([apps(), figures()]).toEqual([1, 1])
  await page.clock.runFor(500)
  await expect.poll(() => [apps(), figures()]).toEqual([2, 2])
})

test('data is cached while fresh, and refetched on return later', async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  const licenses = count(page, '/licenses')
  const users = count(page, '/clients')
  const apps = count(page, '/apps')
  const plans = count(page, '/plans')
  const status = count(page, '/subscription')
  await page.clock.install()
  await enter(page, vendor, '/licenses')
  await expect(page.getByText('No licenses found')).toBeVisible()
  await navigate(page, 'End Users')
  await expect(page.getByText('No end users yet')).toBeVisible()
  expect([licenses(), users(), apps()]).toEqual([1, 1, 1])

  // Licenses are stale after 5 seconds, end users and apps after 30.
  await page.clock.fastForward(5500)
  await navigate(page, 'Licenses')
  await expect.poll(licenses).toBe(2)
  await navigate(page, 'End Users')
  await expect(heading(page, 'End Users')).toBeVisible()
  expect([users(), apps()]).toEqual([1, 1])
  await page.clock.fastForward(31_000)
  await focus(page)
  await expect.poll(users).toBe(2)
  await expect.poll(apps).toBe(2)

  // Plans are stale after a minute, the subscription after five.
  await page.goto('/subscription')
  await expect(page.getByText('Current Plan')).toBeVisible()
  expect([plans(), status()]).toEqual([1, 1])
  await page.clock.fastForward(50_000)
  await focus(page)
  await page.clock.fastForward(11_000)
  await focus(page)
  await expect.poll(plans).toBe(2)
  expect(status()).toBe(1)
  await page.clock.fastForward(240_000)
  await focus(page)
  await expect.poll(status).toBe(2)
})

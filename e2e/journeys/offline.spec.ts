import { expect, test } from '../keyward.ts'
import { premiumVendor } from '../reseller.ts'
import {
  dialog,
  enter,
  expectToast,
  heading,
  keyPrefix,
  mainNavigation,
  makePremium,
  navigate,
  openMenu,
  pauseApp,
  row,
  rowAction,
  settle,
  storedToken,
  touch,
  Vendor,
} from '../steps.ts'

// Start the server for the next test, even after a failure.
test.afterEach(async ({ keyward }) => {
  const up = await fetch(`${keyward.url}/api/health`).catch(() => undefined)
  if (!up) await keyward.start()
})

test('while the server is down the console reports it, keeps the token, and recovers automatically or on retry', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const vendor = await Vendor.signUp(request)
  const [license] = await vendor.createLicenses(await vendor.createApp())
  await enter(page, vendor)
  const panels = page.waitForResponse(/overlay-panels-/)
  await touch(row(page, 'Tally'))
  await panels

  await test.step('an action fails with a message and loses nothing', async () => {
    await keyward.stop()
    await rowAction(page, 'Tally', 'Pause App')
    await expectToast(
      page,
      'Failed to toggle app pause state',
      'The server cannot be reached. Please check your connection.',
    )
    await expect(row(page, 'Tally')).toBeVisible()
    await expect(row(page, 'Tally')).not.toContainText('Paused')
    expect(await storedToken(page)).toBe(vendor.token)
  })

  await test.step('a page that was not loaded before shows an error', async () => {
    await navigate(page, 'Licenses')
    await expect(page.getByRole('alert')).toContainText('Failed to show this page')
    await openMenu(page)
    await expect(mainNavigation(page).getByRole('link', { name: 'Dashboard' })).toBeVisible()
    await page.keyboard.press('Escape')
    expect(await storedToken(page)).toBe(vendor.token)
  })

  await test.step('the page shows itself once the server is back', async () => {
    await keyward.start()
    await expect(row(page, keyPrefix(license!.key))).toBeVisible()
  })
})

test('a page that fails to load keeps the navigation usable', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await page.route('**/assets/licenses-*.js', (route) => route.abort())
  await enter(page, vendor, '/licenses')
  await expect(page.getByRole('alert')).toContainText('Failed to show this page')
  await navigate(page, 'End Users')
  await expect(heading(page, 'End Users')).toBeVisible()
  await expect(page.getByRole('alert')).toHaveCount(0)
})

test('reports a menu that fails to load, and opens it after a reload', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await page.route('**/assets/overlay-panels-*.js', (route) => route.abort())
  await page.route('**/api/health', (route) => route.abort())
  await enter(page, vendor)
  await page.getByRole('button', { name: 'Actions for Tally' }).click()
  await expectToast(page, 'This could not be opened', 'Check your connection and try again.')
  await expect(page.getByRole('menu')).toHaveCount(0)
  await page.unrouteAll()
  await page.reload()
  await pauseApp(page, 'Tally')
  await expect(row(page, 'Tally')).toContainText('Paused')
})

test('reports data that cannot be loaded, and loads it once the server is back', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await enter(page, vendor, '/licenses')
  await expect(page.getByText('No licenses found')).toBeVisible()
  await page.getByRole('searchbox').fill('nothing')
  await expect(page).toHaveURL('/licenses?search=nothing')
  await keyward.stop()
  await page.getByRole('searchbox').fill('something')
  const failure = page.getByRole('alert').filter({ hasText: 'Failed to fetch licenses' })
  await expect(failure).toContainText('The server cannot be reached')
  expect(await storedToken(page)).toBe(vendor.token)
  await expect(failure.getByRole('button', { name: 'Try Again' })).toBeVisible()
  await keyward.start()
  await expect(page.getByText('No licenses found')).toBeVisible({ timeout: 60_000 })
})

test('a console that starts without its server keeps the token, and continues once the server responds', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  let down = true
  await page.route('**/api/**', (route) => (down ? route.abort('connectionrefused') : route.continue()))
  await enter(page, vendor, '/settings')
  const failure = page.getByRole('alert')
  await expect(failure).toContainText('The server cannot be reached')
  expect(await storedToken(page)).toBe(vendor.token)
  await expect(page).toHaveURL('/settings')
  await expect(failure.getByRole('button', { name: 'Try Again' })).toBeVisible()
  down = false
  await expect(heading(page, 'Settings')).toBeVisible({ timeout: 60_000 })
})

test('keeps the token when the server fails', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await page.route('**/api/auth/profile', (route) => route.fulfill({ status: 503, body: '' }))
  await enter(page, vendor, '/settings')
  await expect(page.getByRole('alert')).toBeVisible()
  expect(await storedToken(page)).toBe(vendor.token)
  const retry = page.getByRole('button', { name: 'Try Again' })
  await expect(retry).toBeVisible()
  await page.unroute('**/api/auth/profile')
  await retry.click()
  await expect(heading(page, 'Settings')).toBeVisible()
})

test('every list reports that it failed to load, and loads on retry', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  for (const [path, call, text] of [
    ['/dashboard', /\/api\/apps(\?|$)/, 'Failed to fetch apps'],
    ['/licenses', '**/api/licenses?*', 'Failed to fetch licenses'],
    ['/users', '**/api/clients?*', 'Failed to load users'],
  ] as const) {
    // Rejections are not retried, so there is nothing to wait for.
    await page.route(call, (route) =>
      route.fulfill({ status: 400, json: { success: false, message: 'Not today' } }),
    )
    await enter(page, vendor, path)
    const failure = page.getByRole('alert').filter({ hasText: text })
    await expect(failure).toContainText('Not today')
    await page.unroute(call)
    await failure.getByRole('button', { name: 'Try Again' }).click()
    await expect(failure).toBeHidden()
    await expect(
      page.getByText(/Actions for Tally|No licenses found|No end users yet|v1\.0\.0/).first(),
    ).toBeVisible()
  }
})

test('a list says that the apps it needs could not be loaded, and loads them on request', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const refuse = (url: RegExp) =>
    page.route(url, (route) =>
      route.fulfill({ status: 429, json: { success: false, message: 'Too many at once' } }),
    )
  const apps = /\/api\/apps(\?|$)/
  const oneApp = /\/api\/apps\/app_/
  for (const [path, text, ready] of [
    ['/licenses', 'Failed to fetch licenses', 'No licenses found'],
    ['/users', 'Failed to load users', /^No end users/],
    ['/resellers', 'Failed to load resellers', /^No resellers/],
  ] as const) {
    const failure = page.getByRole('alert').filter({ hasText: text })
    await refuse(apps)
    await enter(page, vendor, path)
    await expect(failure).toBeVisible()
    await settle(page)
    await page.unroute(apps)
    await failure.getByRole('button', { name: 'Try Again' }).click()
    await expect(page.getByText(ready).first()).toBeVisible()

    // The list holds fewer apps than there are, and not this one, so the console requests it.
    await page.route(apps, async (route) => {
      const answer = await (await route.fetch()).json()
      await route.fulfill({
        json: { ...answer, data: { ...answer.data, count: 2, apps: [{ ...app, _id: 'app_0' }] } },
      })
    })
    await refuse(oneApp)
    await page.goto(`${path}?app=${app._id}`)
    await expect(failure).toBeVisible()
    await settle(page)
    await page.unroute(oneApp)
    await failure.getByRole('button', { name: 'Try Again' }).click()
    await expect(page.getByText(ready).first()).toBeVisible()
    await page.unroute(apps)
  }
})

test('everything reported as saved survives a kill of the server', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  makePremium(keyward, vendor)
  await vendor.createApp()
  await enter(page, vendor, '/licenses?dialog=generate')
  const shown: string[] = []
  const form = dialog(page, 'Generate License')
  const made = dialog(page, 'Licenses Generated')
  const generate = form.getByRole('button', { name: 'Generate License' })
  await form.getByLabel('Amount').fill('100')

  let rounds = 0
  const answered = page.waitForResponse(
    (response) =>
      response.url().endsWith('/api/licenses') && response.request().method() === 'POST' && ++rounds === 3,
  )
  // Kill the server right after its third response, while the page still fetches its lists.
  const blow = answered.then(() => keyward.stop('SIGKILL'))
  for (let round = 0; round < 3; round += 1) {
    await generate.click()
    await expect(made.getByRole('listitem')).toHaveCount(100)
    shown.push(...(await made.getByRole('listitem').allInnerTexts()).map((key) => key.trim()))
    if (round < 2) {
      await made.getByRole('button', { name: 'Generate More' }).click()
      await form.getByLabel('Amount').fill('100')
    }
  }
  await blow
  await made.getByRole('button', { name: 'Generate More' }).click()
  await generate.click()
  await expectToast(page, 'Generation Failed', 'The server cannot be reached. Please check your connection.')

  await keyward.start()
  const saved = new Set<string>()
  for (const number of [1, 2]) {
    const { licenses } = await vendor.call('GET', `/licenses?limit=200&page=${number}`)
    for (const { key } of licenses) saved.add(key)
  }
  expect(shown).toHaveLength(300)
  expect(shown.filter((key) => !saved.has(key))).toEqual([])
  await page.goto('/licenses')
  await expect(page.getByText('of 300 licenses')).toBeVisible()
})

test('a kill during a write saves all of it or nothing, and keeps everything acknowledged before', {
  tag: '@full',
}, async ({ request, keyward }) => {
  const vendor = await Vendor.signUp(request)
  makePremium(keyward, vendor)
  const app = await vendor.createApp()
  const acknowledged: string[] = []
  let asked = 0
  const writer = async () => {
    for (;;) {
      asked += 1
      const licenses = await vendor.createLicenses(app, 20)
      acknowledged.push(...licenses.map(({ key }) => key))
    }
  }
  const writers = Promise.allSettled([writer(), writer(), writer()])
  await expect.poll(() => acknowledged.length).toBeGreaterThan(200)
  await keyward.stop('SIGKILL')
  await writers
  await keyward.start()
  const saved = new Set<string>()
  const { pagination } = await vendor.call('GET', '/licenses?limit=200')
  for (let number = 1; number <= pagination.pages; number += 1) {
    const { licenses } = await vendor.call('GET', `/licenses?limit=200&page=${number}`)
    for (const { key } of licenses) saved.add(key)
  }
  expect(acknowledged.filter((key) => !saved.has(key))).toEqual([])
  expect(saved.size % 20).toBe(0)
  expect(saved.size).toBeLessThanOrEqual(asked * 20)
})

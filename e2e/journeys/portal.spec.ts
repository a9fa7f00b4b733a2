import type { Page } from '@playwright/test'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import {
  createReseller,
  enterPortal,
  portalNavigation,
  premiumVendor,
  Seller,
  signInToPortal,
  storedResellerToken,
} from '../reseller.ts'
import {
  dialog,
  enter,
  expectToast,
  figure,
  heading,
  Program,
  shownDate,
  storeToken,
  visit,
} from '../steps.ts'

const signInProblem = (page: Page) => page.getByRole('main').getByRole('alert')

test.describe('sign-in', () => {
  test('reports errors, shows the password on request, and returns to the requested page', async ({
    page,
    request,
    keyward,
  }) => {
    const { vendor, app } = await premiumVendor(request, keyward)
    const reseller = await createReseller(vendor, app)
    await page.goto('/reseller/profile')
    await expect(page).toHaveURL('/reseller/auth')
    await expect(page.getByText('Please contact your administrator.')).toBeVisible()
    await expect(page.getByRole('link', { name: 'Go to the main portal' })).toHaveAttribute('href', '/auth')

    await page.getByRole('button', { name: 'Sign In' }).click()
    await expect(signInProblem(page)).toHaveText('Please enter both email and password.')
    await signInToPortal(page, { email: reseller.email, password: 'wrong password' })
    await expect(signInProblem(page)).toHaveText('Invalid email or password. Please check your credentials.')
    await page.getByRole('button', { name: 'Show password' }).click()
    await expect(page.getByLabel('Password', { exact: true })).toHaveAttribute('type', 'text')
    await page.getByRole('button', { name: 'Hide password' }).click()
    await page.route('**/api/resellers/auth/login', (route) => route.abort())
    await signInToPortal(page, reseller)
    await expect(signInProblem(page)).toHaveText('Authentication failed. Please try again.')
    await page.unroute('**/api/resellers/auth/login')
    await signInToPortal(page, reseller)
    await expectToast(page, 'Welcome to your reseller portal!')
    await expect(page).toHaveURL('/reseller/profile')
  })

  test('rejects the credentials of an owner', { tag: '@full' }, async ({ page, request, keyward }) => {
    const { vendor } = await premiumVendor(request, keyward)
    await page.goto('/reseller/auth')
    await signInToPortal(page, vendor)
    await expect(signInProblem(page)).toHaveText('Invalid email or password. Please check your credentials.')
  })

  test('removes an invalid token silently, and keeps it while the server is down', { tag: '@full' }, async ({
    page,
    request,
    keyward,
  }) => {
    const { vendor, app } = await premiumVendor(request, keyward)
    const seller = await Seller.signIn(request, await createReseller(vendor, app))
    await page.route('**/api/resellers/auth/profile', (route) =>
      route.fulfill({ status: 400, json: { success: false, code: 'invalid_input', message: 'Not now' } }),
    )
    await enterPortal(page, seller)
    await expect(page.getByText('Not now')).toBeVisible()
    expect(await storedResellerToken(page)).toBe(seller.token)
    await page.unroute('**/api/resellers/auth/profile')
    await page.getByRole('button', { name: 'Try Again' }).click()
    await expect(heading(page, 'Dashboard')).toBeVisible()

    await seller.call('POST', '/logout')
    await page.reload()
    await expect(page).toHaveURL('/reseller/auth')
    await expect(page.getByRole('button', { name: 'Sign In' })).toBeVisible()
    expect(await storedResellerToken(page)).toBeNull()
    await expect(page.locator('[data-sonner-toast]')).toHaveCount(0)
  })
})

test('the dashboard shows the statistics, the five latest licenses and quick actions', {
  tag: '@phone',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app, 10)
  const seller = await Seller.signIn(request, reseller)
  await enterPortal(page, seller)
  await expect(page.getByText('No activity yet')).toBeVisible()
  const older = await seller.generate(3)
  const latest = await seller.generate(5)
  const program = await Program.start(request, app)
  await program.register('erik', older[0]!)
  await program.register('anna', latest[0]!)
  await page.reload()
  await expect(figure(page, 'Total Generated')).toContainText('2 remaining')
  await expect(figure(page, 'Active Licenses')).toContainText('100% of total')
  await expect(figure(page, 'Used Licenses')).toContainText('25% usage rate')
  const recent = page.getByRole('listitem').filter({ hasText: /^License (generated|activated)/ })
  await expect(recent).toHaveCount(5)
  for (const { key } of latest) {
    const what = key === latest[0]!.key ? 'License activated' : 'License generated'
    const item = recent.filter({ hasText: `${key.slice(0, 12)}…` })
    await expect(item).toHaveText(`${what}${key.slice(0, 12)}…${shownDate(Date.now())}`)
  }
  await page.getByRole('link', { name: /Manage Licenses/ }).click()
  await expect(page).toHaveURL('/reseller/licenses')
  await portalNavigation(page).getByRole('link', { name: 'Dashboard' }).click()
  await page.getByRole('link', { name: /View Profile/ }).click()
  await expect(page).toHaveURL('/reseller/profile')

  await test.step('the profile shows the account and its quota, and refreshes', async () => {
    await expect(page.getByLabel('Email')).toHaveValue(reseller.email)
    await expect(page.getByLabel('Email')).toHaveAttribute('readonly')
    await expect(page.getByLabel('Associated App')).toHaveValue('Tally')
    await expect(page.getByLabel('Account Created')).toHaveValue(shownDate(Date.now()))
    await expect(page.getByLabel('Associated App')).toHaveAttribute('readonly')
    await expect(page.getByLabel('Account Created')).toHaveAttribute('readonly')
    for (const [name, value] of [
      ['Licenses Generated', '8'],
      ['License Limit', '10'],
      ['Remaining', '2'],
    ] as const) {
      await expect(figure(page, name)).toContainText(value)
    }
    await expect(page.getByRole('main').getByText('Reseller', { exact: true })).toBeVisible()
    await expect(page.getByText(reseller._id)).toBeVisible()
    await expect(page.getByText('Active', { exact: true })).toBeVisible()
    const usage = page.getByRole('progressbar', { name: 'License usage' })
    await expect(usage).toHaveAttribute('aria-valuenow', '80')
    await vendor.call('PUT', `/resellers/${reseller._id}`, { licenseLimit: 7 })
    await page.getByRole('button', { name: 'Refresh' }).click()
    await expectToast(page, 'Profile data refreshed successfully')
    await expect(usage).toHaveAttribute('aria-valuenow', '100')
    await expect(figure(page, 'Remaining')).toContainText('0')
  })

  await test.step('lists its sidebar entries in order and marks the current page', async () => {
    const entries = portalNavigation(page).getByRole('link')
    const all = [
      ['Dashboard', '/reseller/dashboard'],
      ['Licenses', '/reseller/licenses'],
      ['Profile', '/reseller/profile'],
    ] as const
    await expect(entries).toHaveText(all.map(([name]) => name))
    for (const [name, path] of all) {
      await portalNavigation(page).getByRole('link', { name }).click()
      await expect(page).toHaveURL(path)
      await expect(heading(page, name)).toBeVisible()
      await expect(portalNavigation(page).locator('[aria-current=page]')).toHaveText([name])
    }
  })

  await test.step('sign-out ends the session on the server', async () => {
    const revoked = page.waitForResponse('**/api/resellers/auth/logout')
    await portalNavigation(page).getByRole('button', { name: 'Sign Out' }).click()
    await expectToast(page, 'Logged out successfully')
    await expect(page).toHaveURL('/reseller/auth')
    expect(await storedResellerToken(page)).toBeNull()
    await revoked
    await expect(seller.call('GET', '/profile')).rejects.toThrow('401')
  })
})

test('the portal and the owner console load nothing of each other, even in one browser', async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const seller = await Seller.signIn(request, await createReseller(vendor, app))
  await seller.generate(1)
  const scripts = new Map<string, Promise<string>>()
  const answers: Promise<string>[] = []
  const calls: string[] = []
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (pathname.endsWith('.js'))
      scripts.set(
        pathname,
        response.text().catch(() => ''),
      )
    if (pathname.startsWith('/api/')) {
      calls.push(pathname)
      answers.push(response.text().catch(() => ''))
    }
  })
  const loaded = async () => (await Promise.all(scripts.values())).join('\n')

  await page.goto('/theme.js')
  await storeToken(page, vendor.token)
  await enterPortal(page, seller)
  await expect(page.getByText('License generated')).toBeVisible()
  await expect(page.getByText('Reseller Portal - Independent License Management')).toBeVisible()
  const main = page.getByRole('link', { name: 'Open Main Portal' })
  await expect(main).toHaveAttribute('href', '/')
  await expect(main).toHaveAttribute('target', '_blank')
  for (const name of ['Licenses', 'Profile']) {
    await portalNavigation(page).getByRole('link', { name }).click()
    await expect(heading(page, name)).toBeVisible()
  }
  const ownerOnly = 'Create an app first to access this section'
  const portalOnly = 'Independent License Management'
  expect(await loaded()).toContain(portalOnly)
  expect(await loaded()).not.toContain(ownerOnly)
  const isOwn = (path: string) => path === '/api/config' || path.startsWith('/api/resellers/auth/')
  expect(calls.filter((path) => !isOwn(path))).toEqual([])
  const responses = (await Promise.all(answers)).join('\n')
  for (const secret of [vendor.email, vendor.name, app._id, app.appId, app.appSecret]) {
    expect(responses).not.toContain(secret)
  }

  scripts.clear()
  await enter(page, vendor, '/resellers')
  await expect(heading(page, 'Resellers')).toBeVisible()
  expect(await loaded()).toContain(ownerOnly)
  expect(await loaded()).not.toContain(portalOnly)
})

test('pages and dialogs of the portal are accessible, light and dark', {
  tag: ['@full', '@phone'],
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app, 6)
  const seller = await Seller.signIn(request, reseller)
  await page.goto('/reseller/auth')
  await page.getByRole('button', { name: 'Sign In' }).click()
  await expect(signInProblem(page)).toBeVisible()
  await expectAccessible(page, 'portal sign-in')
  await enterPortal(page, seller)
  await expect(page.getByText('No activity yet')).toBeVisible()
  await expectAccessible(page, 'an empty dashboard')
  await seller.generate(5)
  await page.reload()
  for (const [path, ready] of [
    ['/reseller/dashboard', page.getByText('License generated').first()],
    ['/reseller/licenses', page.getByText('Available').last()],
    ['/reseller/profile', page.getByLabel('Associated App')],
    ['/reseller/licenses?dialog=generate', dialog(page, 'Generate License')],
    ['/reseller/licenses?dialog=delete-all', dialog(page, 'Delete All Licenses')],
  ] as const) {
    await visit(page, path)
    await expect(ready).toBeVisible()
    await expectAccessible(page, path)
  }
  await page.goto('/reseller/licenses?dialog=generate')
  await dialog(page, 'Generate License').getByRole('button', { name: 'Generate License' }).click()
  await expect(dialog(page, 'Licenses Generated')).toBeVisible()
  await expectAccessible(page, 'the generated keys')
  await page.goto('/reseller/licenses')
  await expect(page.getByText('Your license quota is used up')).toBeVisible()
  await expectAccessible(page, 'licenses with the quota used up')
})

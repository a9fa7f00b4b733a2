import type { Page } from '@playwright/test'
import { expect, type Keyward, test } from '../keyward.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import { enter, Program, settle, Vendor } from '../steps.ts'

const most = 0.05
const ownerPages = [
  '/dashboard',
  '/resellers',
  '/licenses',
  '/users',
  '/profile',
  '/profile/security',
  '/settings',
  '/members',
  '/audit',
  '/subscription',
  '/about',
]

const tabs = [
  'types',
  'shops',
  'releases',
  'variables',
  'texts',
  'mail',
  'security',
  'integration',
  'history',
]

/** Sums up layout shifts without recent input, with the elements that moved. */
const watch = `
  globalThis.moved = []
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue
      const where = sources.map(({ node, previousRect: a, currentRect: b }) =>
        (node?.outerHTML ?? node?.textContent ?? 'gone').slice(0, 90) + ' ' + [a.x, a.y, a.width, a.height] + ' -> ' + [b.x, b.y, b.width, b.height])
      globalThis.moved.push({ value, where })
    }
  }).observe({ type: 'layout-shift', buffered: true })
`

/**
 * Delays responses one after the other, like a network. Playwright could do so too, but without the browser's cache: every
 * page would load all scripts again.
 */
const delay = `{
  const send = globalThis.fetch
  globalThis.delayed = 0
  globalThis.waiting = 0
  globalThis.fetch = async (url, init) => {
    if (!String(url?.url ?? url).includes('/api/')) return send(url, init)
    globalThis.delayed += 1
    globalThis.waiting += 1
    try {
      await new Promise((resolve) => setTimeout(resolve, 100 + 60 * (globalThis.delayed % 5)))
      return await send(url, init)
    } finally {
      globalThis.waiting -= 1
    }
  }
}`

test.beforeEach(async ({ page }) => {
  await page.addInitScript(watch + delay)
})

test('pages of a busy premium vendor load without layout shift', { tag: '@phone' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor } = await business(request, keyward)
  await enter(page, vendor, '/profile')
  await expectStill(page, ownerPages)
})

test('pages of a new vendor load without layout shift', { tag: '@phone' }, async ({ page, request }) => {
  await enter(page, await Vendor.signUp(request), '/profile')
  await expectStill(page, ownerPages)
})

test('the tabs of an app load without layout shift', { tag: '@phone' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await business(request, keyward)
  const unused = await vendor.createApp('Unused')
  await vendor.call('POST', `/apps/${app._id}/license-types`, { name: 'Studio', term: 'forever' })
  await enter(page, vendor, '/profile')
  for (const { _id } of [app, unused])
    await expectStill(page, [`/apps/${_id}`, ...tabs.map((tab) => `/apps/${_id}?tab=${tab}`)])
})

test('pages that need an app load without layout shift for a new app', { tag: '@phone' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await enter(page, vendor, '/profile')
  await expectStill(page, ['/dashboard', '/resellers', '/licenses', '/users'])
})

test('the dashboard loads without layout shift after the first activation', { tag: '@phone' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 1)
  await (await Program.start(request, app)).register('alice', license!)
  await enter(page, vendor, '/profile')
  await expectStill(page, ['/dashboard'])
  await expect(page.getByRole('region', { name: 'Next steps' })).toBeVisible()
})

test('pages of the portal load without layout shift', { tag: '@phone' }, async ({
  page,
  request,
  keyward,
}) => {
  const { seller } = await business(request, keyward)
  await enterPortal(page, seller)
  await expectStill(page, [
    '/reseller/dashboard',
    '/reseller/licenses',
    '/reseller/profile',
    '/reseller/profile/security',
  ])
})

for (const count of [0, 2])
  test(`pages of the portal load without layout shift for a reseller with ${count} licenses`, {
    tag: '@phone',
  }, async ({ page, request, keyward }) => {
    const { vendor, app } = await premiumVendor(request, keyward)
    const seller = await Seller.signIn(request, await createReseller(vendor, app, Math.max(1, count)))
    if (count > 0) await seller.generate(count)
    await enterPortal(page, seller)
    await expectStill(page, ['/reseller/dashboard', '/reseller/licenses', '/reseller/profile'])
  })

test('public pages load without layout shift', { tag: '@phone' }, async ({ page }) => {
  const paths = [
    '/',
    '/about',
    '/terms',
    '/privacy',
    '/auth',
    '/auth?tab=sign-up',
    '/reseller/auth',
    '/no-such-page',
  ]
  await expectStill(page, paths, { leastCalls: 0 })
})

/** Public pages send no calls. */
async function expectStill(page: Page, paths: string[], { leastCalls = 1 } = {}) {
  for (const path of paths) {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await settle(page)
    await expect.poll(() => page.evaluate('globalThis.waiting')).toBe(0)
    expect.soft(await page.evaluate('globalThis.delayed'), path).toBeGreaterThanOrEqual(leastCalls)
    await settle(page)
    const moved = await page.evaluate<{ value: number; where: string[] }[]>('globalThis.moved')
    const total = moved.reduce((sum, { value }) => sum + value, 0)
    expect.soft(total, `${path}\n${JSON.stringify(moved, null, 1)}`).toBeLessThan(most)
  }
}

/** A vendor with rows in every list, and one of its resellers. */
async function business(request: Parameters<typeof premiumVendor>[0], keyward: Keyward) {
  const { vendor, app } = await premiumVendor(request, keyward)
  const licenses = await vendor.createLicenses(app, 30)
  const program = await Program.start(request, app)
  for (const [index, license] of licenses.slice(0, 6).entries())
    await program.register(`user${index}`, license)
  const credentials = await createReseller(vendor, app, 40)
  const seller = await Seller.signIn(request, credentials)
  await seller.generate(30)
  return { vendor, app, seller }
}

import { fileURLToPath } from 'node:url'
import type { APIRequestContext, Page } from '@playwright/test'
import { expect, type Keyward, test } from '../keyward.ts'
import { makePremium, Program, settle, storeToken, unique, Vendor } from '../steps.ts'

const directory = fileURLToPath(new URL('../../docs/screenshots', import.meta.url))
const ownerPages = {
  dashboard: '/dashboard',
  resellers: '/resellers',
  licenses: '/licenses',
  'end-users': '/users',
  profile: '/profile',
  settings: '/settings',
  subscription: '/subscription',
}
const publicPages = {
  landing: '/',
  auth: '/auth',
  'sign-up': '/auth?tab=sign-up',
  about: '/about',
  terms: '/terms',
  privacy: '/privacy',
  'not-found': '/no-such-page',
  'reseller-auth': '/reseller/auth',
}
const portalPages = {
  'reseller-dashboard': '/reseller/dashboard',
  'reseller-licenses': '/reseller/licenses',
  'reseller-profile': '/reseller/profile',
}

for (const theme of ['light', 'dark'] as const) {
  test.describe(theme, () => {
    test.use({ colorScheme: theme })

    test('public pages', async ({ page }, { project }) => {
      for (const [name, path] of Object.entries(publicPages))
        await picture(page, path, `${name}-${theme}`, project.name)
    })

    test('owner and reseller pages', async ({ page, keyward, request }, { project }) => {
      test.setTimeout(180_000)
      const { vendor, resellerToken } = await furnish(keyward, request)
      await page.goto('/auth')
      await storeToken(page, vendor.token)
      for (const [name, path] of Object.entries(ownerPages))
        await picture(page, path, `${name}-${theme}`, project.name)
      await page.evaluate(
        ([key, token]) => localStorage.setItem(key!, token!),
        ['keyward-reseller-token', resellerToken],
      )
      for (const [name, path] of Object.entries(portalPages))
        await picture(page, path, `${name}-${theme}`, project.name)
    })
  })
}

async function picture(page: Page, path: string, name: string, project: string) {
  await page.goto(path)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await settle(page)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.evaluate('document.fonts.ready')
  const suffix = project === 'desktop' ? '' : '-phone'
  await page.screenshot({
    path: `${directory}/${name}${suffix}.png`,
    fullPage: project === 'desktop',
    animations: 'disabled',
  })
}

/** A vendor with realistic data. */
async function furnish(keyward: Keyward, request: APIRequestContext) {
  const vendor = await Vendor.signUp(request, 'Vera Vendor')
  makePremium(keyward, vendor)
  const studio = await vendor.createApp('Atlas Studio')
  const mobile = await vendor.createApp('Atlas Mobile')
  const licenses = [
    ...(await vendor.createLicenses(studio, 12, 90)),
    ...(await vendor.createLicenses(mobile, 6, 20)),
  ]
  for (const [index, name] of ['mira', 'jonas.weber', 'studio-nord', 'k.tanaka', 'elif'].entries()) {
    const program = await Program.start(request, index < 3 ? studio : mobile)
    await program.register(name, licenses[index < 3 ? index : 12 + index]!, `machine-${name}`)
  }
  const { clients } = await vendor.call('GET', '/clients')
  await vendor.call('PATCH', `/clients/${clients[0]._id}/toggle-ban`)
  await vendor.call('PATCH', `/licenses/${licenses[5]!._id}/toggle-ban`)
  const password = unique('reseller-password')
  const email = `${unique('north')}@example.com`
  await vendor.call('POST', '/resellers', { email, password, app_id: studio._id, allowed_license_keys: 20 })
  const login = await request.post('/api/resellers/auth/login', { data: { email, password } })
  const resellerToken: string = (await login.json()).data.token
  const expiresAt = new Date(Date.now() + 60 * 86_400_000).toISOString()
  const made = await request.post('/api/resellers/auth/licenses', {
    headers: { authorization: `Bearer ${resellerToken}` },
    data: { count: 15, expiresAt },
  })
  const [first] = (await made.json()).data.licenses
  await (await Program.start(request, studio)).register('reseller.customer', first)
  return { vendor, resellerToken }
}

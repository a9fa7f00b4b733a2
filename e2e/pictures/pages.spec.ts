import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { settle, storeToken } from '../steps.ts'
import { furnish } from './furnish.ts'

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
  await loadImages(page)
  const suffix = project === 'desktop' ? '' : '-phone'
  await page.screenshot({
    path: `${directory}/${name}${suffix}.png`,
    fullPage: project === 'desktop',
    animations: 'disabled',
  })
}

/** A full-page screenshot does not scroll, so lazy images would stay empty. */
const loadImages = (page: Page) =>
  page.evaluate(`Promise.all([...document.images].filter((image) => image.offsetParent).map((image) => {
    image.loading = 'eager'
    return image.decode()
  }))`)

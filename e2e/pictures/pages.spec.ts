import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { ownerPages, portalPages, publicPages } from '../pages.ts'
import { settle, storeToken, Vendor } from '../steps.ts'
import { furnish } from './furnish.ts'
import { hideDevelopment, writeWebp } from './webp.ts'

const directory = fileURLToPath(new URL('../../screenshots', import.meta.url))
/** The pictures that the README shows, and the only ones that are committed. */
const shown = {
  directory: fileURLToPath(new URL('../../docs/screenshots', import.meta.url)),
  name: 'dashboard',
}
const dialogs = {
  'generate-license': '/licenses?dialog=generate',
  'create-end-user': '/users?dialog=create',
}
const newcomerPages = {
  'newcomer-dashboard': '/dashboard',
  'newcomer-licenses': '/licenses',
  'newcomer-subscription': '/subscription',
}

const isLong = ({ name }: { name: string }) => name.startsWith('long')

test.beforeAll(() => mkdirSync(directory, { recursive: true }))
test.beforeEach(({ page }) => hideDevelopment(page))

for (const theme of ['light', 'dark'] as const) {
  test.describe(theme, () => {
    test.use({ colorScheme: theme })

    test('public pages', async ({ page }, { project }) => {
      for (const { name, path } of publicPages) await picture(page, path, `${name}-${theme}`, project.name)
    })

    test('pages of a newcomer, and of a vendor with an app', async ({ page, request }, { project }) => {
      const vendor = await Vendor.signUp(request, 'Nora Newcomer')
      await page.goto('/auth')
      await storeToken(page, vendor.token)
      for (const [name, path] of Object.entries(newcomerPages))
        await picture(page, path, `${name}-${theme}`, project.name)
      await vendor.createApp('Atlas')
      await picture(page, '/dashboard', `first-app-${theme}`, project.name)
      await picture(page, '/licenses', `no-licenses-${theme}`, project.name)
    })

    test('owner and reseller pages', async ({ page, keyward, request }, { project }) => {
      test.setTimeout(600_000)
      const { vendor, resellerToken, items } = await furnish(keyward, request, isLong(project))
      await page.goto('/auth')
      await storeToken(page, vendor.token)
      for (const { name, path } of ownerPages(items))
        await picture(page, path, `${name}-${theme}`, project.name)
      for (const [name, path] of Object.entries(dialogs))
        await picture(page, path, `${name}-${theme}`, project.name)
      await page.goto('/licenses')
      await page.getByRole('button', { name: 'Search or go to' }).click()
      await page.getByRole('combobox', { name: 'Search or go to' }).fill('stu')
      await expect(page.getByRole('option', { name: /studio-nord/ }).first()).toBeVisible()
      await take(page, `palette-${theme}`, project.name)
      await page.route('**/api/licenses?*', (route) => route.fulfill({ status: 400, body: '' }))
      await picture(page, '/licenses', `failed-${theme}`, project.name)
      await page.unroute('**/api/licenses?*')
      await page.evaluate(
        ([key, token]) => localStorage.setItem(key!, token!),
        ['keyward-reseller-token', resellerToken],
      )
      for (const { name, path } of portalPages) await picture(page, path, `${name}-${theme}`, project.name)
    })

    test("the customer's page", async ({ page, keyward, request }, { project }) => {
      const { app, license } = (await furnish(keyward, request, isLong(project))).items
      await picture(page, `/u/${app.appId}`, `customer-sign-in-${theme}`, project.name)
      await page.getByLabel('License key', { exact: true }).last().fill(license.key)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await expect(page.getByRole('heading', { level: 1, name: /^Your license for/ })).toBeVisible()
      await take(page, `customer-page-${theme}`, project.name)
    })
  })
}

async function picture(page: Page, path: string, name: string, project: string) {
  await page.goto(path)
  await expect(page.getByRole('heading', { level: 1, includeHidden: true })).toBeVisible()
  await settle(page)
  await take(page, name, project)
}

async function take(page: Page, name: string, project: string) {
  await settle(page)
  await page.evaluate('document.fonts.ready')
  await loadImages(page)
  const suffix = project === 'desktop' ? '' : `-${project}`
  const open = await page.getByRole('dialog').count()
  const png = await page.screenshot({
    fullPage: !project.endsWith('phone') && open === 0,
    animations: 'disabled',
  })
  const isShown = project === 'desktop' && name.startsWith(`${shown.name}-`)
  await writeWebp(page, `${isShown ? shown.directory : directory}/${name}${suffix}.webp`, png, 0.7)
}

/** A full-page screenshot does not scroll, so lazy images would stay empty. */
const loadImages = (page: Page) =>
  page.evaluate(`Promise.all([...document.images].filter((image) => image.offsetParent).map((image) => {
    image.loading = 'eager'
    return image.decode()
  }))`)

import { fileURLToPath } from 'node:url'
import { expect, test } from '../keyward.ts'
import { settle, storeToken } from '../steps.ts'
import { furnish } from './furnish.ts'
import { hideDevelopment, writeWebp } from './webp.ts'

const directory = fileURLToPath(new URL('../../apps/console/src/features/landing/pictures', import.meta.url))
const phone = { viewport: { width: 390, height: 700 }, deviceScaleFactor: 2 }
const desktop = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.2 }
const pages = {
  desktop: { dashboard: '/dashboard', licenses: '/licenses', portal: '/reseller/dashboard' },
  phone: { 'licenses-phone': '/licenses' },
}

for (const theme of ['light', 'dark'] as const) {
  test(`the pictures of the landing page, ${theme}`, async ({ browser, baseURL, keyward, request }, {
    project,
  }) => {
    test.setTimeout(300_000)
    const { vendor, resellerToken } = await furnish(keyward, request)
    const screen = project.name === 'phone' ? phone : desktop
    const context = await browser.newContext({
      ...screen,
      baseURL,
      colorScheme: theme,
      reducedMotion: 'reduce',
      locale: 'en-US',
      timezoneId: 'UTC',
    })
    const page = await context.newPage()
    await hideDevelopment(page)
    await page.goto('/auth')
    await storeToken(page, vendor.token)
    await page.evaluate(`localStorage.setItem('keyward-reseller-token', '${resellerToken}')`)
    for (const [name, path] of Object.entries(pages[project.name === 'phone' ? 'phone' : 'desktop'])) {
      await page.goto(path)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await settle(page)
      await page.evaluate('document.fonts.ready')
      const png = await page.screenshot({ animations: 'disabled' })
      await writeWebp(page, `${directory}/${name}-${theme}.webp`, png)
    }
    await context.close()
  })
}

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { settle, storeToken } from '../steps.ts'
import { furnish } from './furnish.ts'

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
    await page.goto('/auth')
    await storeToken(page, vendor.token)
    await page.evaluate(`localStorage.setItem('keyward-reseller-token', '${resellerToken}')`)
    for (const [name, path] of Object.entries(pages[project.name === 'phone' ? 'phone' : 'desktop'])) {
      await page.goto(path)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await settle(page)
      await page.evaluate('document.fonts.ready')
      const png = await page.screenshot({ animations: 'disabled' })
      writeFileSync(`${directory}/${name}-${theme}.webp`, await toWebp(page, png))
    }
    await context.close()
  })
}

/** The browser is the encoder: nothing else has to be installed. */
async function toWebp(page: Page, png: Buffer): Promise<Buffer> {
  const source = `data:image/png;base64,${png.toString('base64')}`
  const url = await page.evaluate<string>(`(async () => {
    const image = new Image()
    image.src = ${JSON.stringify(source)}
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.naturalWidth
    canvas.height = image.naturalHeight
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', 0.8)
  })()`)
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
}

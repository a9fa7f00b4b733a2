import { expect, test } from '../keyward.ts'
import { enter, figure, openPalette, Program, row, Vendor } from '../steps.ts'

test.describe('live', () => {
  test('updates statistics and lists without a reload', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    // Statistics are polled every 30 seconds, which would show the changes too.
    await page.addInitScript(`{
      const set = globalThis.setInterval
      globalThis.setInterval = (work, ms, ...more) => (ms < 10_000 ? set(work, ms, ...more) : 0)
    }`)
    await enter(page, vendor)
    await expect(figure(page, 'Total Licenses')).toContainText('0')
    await page.evaluate('window.unloaded = false')
    const [license] = await vendor.createLicenses(app, 4)
    await expect(figure(page, 'Total Licenses')).toContainText('4')
    const program = await Program.start(request, app)
    await program.register('alice', license!)
    await expect(figure(page, 'Active Licenses')).toContainText('1')
    await expect(figure(page, 'End Users')).toContainText('1')
    await vendor.createApp('Second')
    await expect(row(page, 'Second')).toBeVisible()
    expect(await page.evaluate('window.unloaded')).toBe(false)
  })

  test('reports a lost connection once, and catches up when it returns', { tag: '@full' }, async ({
    page,
    request,
    keyward,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await enter(page, vendor)
    await expect(figure(page, 'Total Licenses')).toContainText('0')
    await openPalette(page)
    await page.keyboard.press('Escape')
    await keyward.stop()
    const connectionLost = page.getByText('Connection lost')
    await expect(connectionLost).toHaveCount(1)
    // Statistics that fail to refresh show no toast of their own.
    await page.waitForTimeout(4000)
    await expect(page.locator('[data-sonner-toast]')).toHaveCount(0)
    await expect(connectionLost).toHaveCount(1)
    await keyward.start()
    await vendor.createLicenses(app, 2)
    await expect(connectionLost).toHaveCount(0, { timeout: 90_000 })
    await expect(figure(page, 'Total Licenses')).toContainText('2')
  })
})

import type { Locator } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import {
  dialog,
  enter,
  expectToast,
  keyPrefix,
  openFilters,
  Program,
  readClipboard,
  row,
  rows,
  Vendor,
} from '../steps.ts'

/** Counts taps on targets that a finger hits. */
class Taps {
  count = 0
  async tap(target: Locator) {
    await target.waitFor()
    const { width, height } = (await target.boundingBox())!
    expect(Math.min(width, height), await target.innerText()).toBeGreaterThanOrEqual(24)
    await target.tap()
    this.count += 1
  }
}

test('a key is copied, extended and banned, and a device freed, in at most three taps from a search', {
  tag: '@phone-only',
}, async ({ page, request, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 3)
  await (await Program.start(request, app)).register('erik', license!, 'machine-1')
  const item = (name: string) => page.getByRole('menuitem', { name })
  const one = () => vendor.call('GET', `/licenses/${license!._id}`)

  await enter(page, vendor, '/licenses')
  await openFilters(page)
  await page.getByRole('searchbox').fill('erik')
  await expect(rows(page)).toHaveCount(1)
  const found = row(page, keyPrefix(license!.key))
  const menu = found.getByRole('button', { name: /^Actions for/ })

  const copying = new Taps()
  await copying.tap(found.getByRole('button', { name: /^Copy license key/ }))
  await expectToast(page, 'License key copied to clipboard')
  expect(await readClipboard(page)).toBe(license!.key)
  expect(copying.count).toBe(1)

  const extending = new Taps()
  await extending.tap(menu)
  await extending.tap(item('Extend License'))
  await extending.tap(page.getByRole('dialog').getByRole('button', { name: /^Extend/ }))
  await expect(page.getByRole('dialog')).toBeHidden()
  expect((await one()).license.expiresAt > license!.expiresAt).toBe(true)
  expect(extending.count).toBe(3)

  const banning = new Taps()
  await banning.tap(menu)
  await banning.tap(item('Ban License'))
  await banning.tap(dialog(page, 'Ban License').getByRole('button', { name: 'Ban License' }))
  await expect(found).toContainText('Banned')
  expect(banning.count).toBe(3)

  await page.goto('/users')
  await openFilters(page)
  await page.getByRole('searchbox').fill('erik')
  const freeing = new Taps()
  await freeing.tap(row(page, 'erik').getByRole('button', { name: 'Actions for erik' }))
  await freeing.tap(item('Reset HWID'))
  await freeing.tap(page.getByRole('alertdialog').getByRole('button', { name: 'Reset HWID' }))
  await expect(page.getByRole('alertdialog')).toBeHidden()
  expect((await vendor.call('GET', '/clients')).clients[0].hwid).toBeNull()
  expect(freeing.count).toBe(3)
})

import type { Locator, Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { premiumVendor } from '../reseller.ts'
import { dialog, enter, heading, pauseAll, settle, Vendor, visit } from '../steps.ts'

test('all pages of the owner start their titles at one left edge and one height', {
  tag: ['@full', '@phone'],
}, async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  await enter(page, vendor)
  const paths = ['licenses', 'users', 'resellers', 'profile', 'settings', 'subscription', 'about', 'terms']
  const corner = async () => {
    await settle(page)
    const { x, y } = await boxOf(heading(page, /./))
    return { x: Math.round(x), y: Math.round(y) }
  }
  const first = await corner()
  for (const path of paths) {
    await visit(page, `/${path}`)
    await expect(page).toHaveURL(`/${path}`)
    await expect(heading(page, /./)).toBeVisible()
    const { x, y } = await corner()
    expect.soft(x, path).toBe(first.x)
    // The titles of documents are larger.
    if (path !== 'about' && path !== 'terms') expect.soft(y, path).toBe(first.y)
  }
})

test('a message does not cover the generated key on a phone', { tag: '@phone-only' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await enter(page, vendor, '/licenses?dialog=generate')
  await dialog(page, 'Generate License').getByRole('button', { name: 'Generate License' }).click()
  const result = dialog(page, 'Licenses Generated')
  await expect(result).toContainText('The key is ready to hand out. You can find it in the list.')
  const toast = page.locator('[data-sonner-toast]').first()
  await expect(toast).toBeVisible()
  const copy = await boxOf(result.getByRole('button', { name: 'Copy license key', exact: true }))
  await expect.poll(async () => bottomOf(await boxOf(toast))).toBeLessThan(copy.y)
  expect((await boxOf(toast)).y).toBeGreaterThanOrEqual(0)
})

test('the buttons of a dialog share one line on a low screen, such as at 200 % zoom', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  await page.setViewportSize({ width: 640, height: 400 })
  await enter(page, vendor, '/licenses?dialog=generate')
  const generate = dialog(page, 'Generate License')
  const [cancel, submit] = await Promise.all(
    ['Cancel', 'Generate License'].map((name) => boxOf(generate.getByRole('button', { name }))),
  )
  expect(cancel!.y).toBe(submit!.y)
  expect((await boxOf(generate.locator('footer'))).height).toBeLessThan(80)
})

test('a message covers neither the title of a page nor the buttons of a dialog', {
  tag: ['@full', '@phone'],
}, async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  await enter(page, vendor, '/settings')
  await pauseAll(page)
  const toast = page.locator('[data-sonner-toast]').first()
  await expect(toast).toBeVisible()
  const { width, height } = page.viewportSize()!
  await expect.poll(async () => bottomOf(await boxOf(toast))).toBeLessThanOrEqual(height - 16)
  const box = await boxOf(toast)
  expect(box.y).toBeGreaterThan(height / 2)
  expect(box.x + box.width).toBeGreaterThan(width - 40)

  await page.route('**/api/licenses', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 403, json: { success: false, code: 'forbidden', message: 'Not now' } })
      : route.continue(),
  )
  await page.goto('/licenses?dialog=generate')
  const generate = dialog(page, /Generate/)
  const submit = generate.getByRole('button', { name: /^Generate/ })
  await submit.click()
  await expect(toast).toBeVisible()
  await expect
    .poll(async () => {
      const [message, button] = [await boxOf(toast), await boxOf(submit)]
      const isApart = bottomOf(message) <= button.y || message.x >= button.x + button.width
      return isApart || message.y >= bottomOf(button)
    })
    .toBe(true)
})

for (const [reducedMotion, limitMs] of [
  ['no-preference', 200],
  ['reduce', 2],
] as const) {
  test(`motion takes less than ${limitMs} ms with the preference ${reducedMotion}`, { tag: '@full' }, async ({
    page,
    request,
    keyward,
  }) => {
    await page.emulateMedia({ reducedMotion })
    const { vendor } = await premiumVendor(request, keyward)
    await enter(page, vendor, '/settings')
    await pauseAll(page)
    await expect(page.locator('[data-sonner-toast]').first()).toBeVisible()
    expect(await longestMotion(page)).toBeLessThan(limitMs)
    await page.goto('/licenses?dialog=generate')
    await expect(dialog(page, /Generate/)).toBeVisible()
    await settle(page)
    expect(await longestMotion(page)).toBeLessThan(limitMs)
  })
}

/** The longest transition or finite animation of any element, in milliseconds. */
const longestMotion = (page: Page) =>
  page.evaluate<number>(`Math.max(...[...document.querySelectorAll('*')].flatMap((element) => {
    const { transitionDuration, animationDuration, animationName, animationIterationCount } = getComputedStyle(element)
    const finite = animationName !== 'none' && animationIterationCount !== 'infinite'
    return [transitionDuration, finite ? animationDuration : '0s']
      .flatMap((list) => list.split(', '))
      .map((text) => parseFloat(text) * (text.endsWith('ms') ? 1 : 1000))
  }))`)

async function boxOf(of: Locator) {
  const box = await of.boundingBox()
  if (!box) throw new Error('There is nothing to measure')
  return box
}

const bottomOf = ({ y, height }: { y: number; height: number }) => y + height

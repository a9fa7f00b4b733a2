import { expectAccessible, expectToFitPhone, type Theme } from '../accessibility.ts'
import { busyVendor, sellerWith } from '../busy.ts'
import { expect, test } from '../keyward.ts'
import { everySecond, missingPath, ownerPages, portalPages, publicPages } from '../pages.ts'
import { isFull } from '../repeated.ts'
import { enterPortal } from '../reseller.ts'
import { openLight } from '../scripts.ts'
import { enter, heading, isPhone } from '../steps.ts'
import { expectStill, visitStill, watchShifts } from '../stillness.ts'

const themes: Theme[] = ['light', 'dark']

// One visit answers everything that is asked of each page, because loading it takes longer than the questions.
test.beforeEach(async ({ page }) => {
  // Stricter than elsewhere: a page may not log failed requests either. Only the page that does not exist logs its own.
  page.on('console', (message) => {
    if (!message.location().url.endsWith(missingPath))
      expect.soft(message.type(), message.text()).not.toBe('error')
  })
  await watchShifts(page)
})

for (const part of [0, 1])
  test(`every page of a console in use loads without layout shift, at most 180 kB of JavaScript in 25 files, is accessible and fits the screen, part ${part + 1}`, {
    tag: '@phone',
  }, async ({ page, request, keyward }) => {
    // Rows repeat, and each costs the check of accessibility time. The portal has lists of two pages in every run.
    const amount = isFull ? 30 : 6
    const busy = await busyVendor([request, keyward], { licenses: amount })
    await sellerWith(request, busy, amount)
    await enter(page, busy.vendor, '/terms')
    for (const [at, { path, title }] of everySecond(ownerPages(busy), part).entries()) {
      const isShown = () => expect(heading(page, title)).toBeVisible()
      // Loading a page takes three times as long as opening it in the running console, which shows the same skeletons.
      const isOpened = !isFull && at > 0
      if (isOpened) await visitStill(page, path).then(isShown)
      // A phone loads the same files.
      else if (isPhone(page)) await page.goto(path).then(isShown)
      else await openLight(page, path, isShown)
      await expectStill(page, path, { leastCalls: isOpened ? 0 : 1 })
      await expectAccessible(page, path, { theme: themes[at % 2] })
      await expectToFitPhone(page, path)
    }
  })

test('every page of the portal loads without layout shift, is accessible and fits the screen', {
  tag: '@phone',
}, async ({ page, request, keyward }) => {
  const seller = await sellerWith(request, await busyVendor([request, keyward]))
  await enterPortal(page, seller)
  for (const [at, { path }] of portalPages.entries()) {
    await page.goto(path)
    await expectStill(page, path)
    await expectAccessible(page, path, { theme: themes[at % 2] })
  }
})

test('every public page loads without layout shift, is accessible and fits the screen', {
  tag: '@phone',
}, async ({ page }) => {
  for (const [at, { path, title }] of publicPages.entries()) {
    await page.goto(path)
    await expect(heading(page, title)).toBeVisible()
    await expectStill(page, path, { leastCalls: 0 })
    if (path.includes('sign-up')) await expect(page.getByLabel('Full Name')).toBeVisible()
    await expectAccessible(page, path, { theme: themes[at % 2] })
  }
})

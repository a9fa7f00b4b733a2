import type { Page } from '@playwright/test'
import { expectAccessible, expectToFit } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { appTabs } from '../pages.ts'
import {
  dialog,
  enter,
  heading,
  isPhone,
  keyPrefix,
  makePremium,
  openFilters,
  openMenu,
  Program,
  row,
  Vendor,
  visit,
} from '../steps.ts'

// Stricter than elsewhere: a working page may not log failed requests either.
test.beforeEach(({ page }) => {
  page.on('console', (message) => expect.soft(message.type(), message.text()).not.toBe('error'))
})

/** A vendor with data of every kind. */
async function busyVendor(request: Parameters<typeof Vendor.signUp>[0]) {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const [used, expired, banned, unused] = await vendor.createLicenses(app, 4)
  const program = await Program.start(request, app)
  await program.register('erik', used!, 'first device')
  await vendor.call('PUT', `/licenses/${expired!._id}`, { expiresAt: new Date().toISOString() })
  await vendor.call('PATCH', `/licenses/${banned!._id}/toggle-ban`, { is_banned: true })
  const hanna = await vendor.createEndUser(app, 'hanna')
  await vendor.call('PATCH', `/clients/${hanna._id}/toggle-ban`, { is_banned: true })
  await vendor.call('PATCH', `/clients/${hanna._id}`, { customer: 'hanna@example.com' })
  const second = await vendor.createApp('Paused one')
  await vendor.call('PUT', `/apps/${second._id}`, { paused: true })
  const { clients } = await vendor.call('GET', '/clients?search=erik')
  return { vendor, app, used: used!, unused: unused!, erik: clients[0] }
}

test('the errors of sign-up and sign-in are accessible', { tag: ['@full', '@phone'] }, async ({ page }) => {
  await page.goto('/auth?tab=sign-up')
  await page.getByLabel('Password', { exact: true }).fill('12345')
  await page.getByLabel('Confirm Password').fill('1234')
  await page.getByLabel('Email').fill('nobody')
  await page.getByLabel('Full Name').focus()
  await expect(page.getByText('Please enter a valid email address')).toBeVisible()
  await expectAccessible(page, 'sign-up with mistakes')
})

test('an empty console is accessible and fits the screen', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
}) => {
  await enter(page, await Vendor.signUp(request))
  await expect(page.getByText('No applications yet')).toBeVisible()
  await expectAccessible(page, 'dashboard without apps')
  for (const path of ['/licenses', '/users']) {
    await visit(page, path)
    await expect(page.getByText('No Application Created')).toBeVisible()
    await expectAccessible(page, `${path} without apps`)
  }
})

test('lists that find nothing, menus and the sidebar are accessible and fit the screen', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const { vendor } = await busyVendor(request)
  await enter(page, vendor, '/licenses?search=nothing')
  for (const [path, text] of [
    ['/licenses', 'No licenses found'],
    ['/customers', 'No customers found'],
    ['/users', 'No end users found'],
  ] as const) {
    await visit(page, `${path}?search=nothing`)
    await expect(page.getByText(text)).toBeVisible()
    await expectAccessible(page, `${path}, nothing found`)
  }

  await visit(page, '/users')
  await page.getByText('How registration works').click()
  await page.getByRole('button', { name: 'Actions for erik' }).click()
  await expect(page.getByRole('menu')).toBeVisible()
  await expectAccessible(page, 'a row menu')
  await page.keyboard.press('Escape')
  await openFilters(page)
  await page.getByRole('combobox', { name: 'Status' }).click()
  await expect(page.getByRole('listbox')).toBeVisible()
  // The open list keeps the focus: Tab does nothing, so hidden elements are not reachable.
  await page.keyboard.press('Tab')
  await expect(page.getByRole('option', { selected: true })).toBeFocused()
  await expectAccessible(page, 'a select', { exempt: ['aria-hidden-focus'] })
  await page.keyboard.press('Escape')
  if (isPhone(page)) {
    await openMenu(page)
    await expectAccessible(page, 'the menu of the phone')
  } else {
    await page.getByRole('button', { name: 'Collapse sidebar' }).click()
    await expect(page.getByRole('button', { name: 'Expand sidebar' })).toBeVisible()
    await expectAccessible(page, 'the collapsed sidebar')
  }
})

type Busy = Awaited<ReturnType<typeof busyVendor>>

/** Dialogs by page: path and title. */
const dialogs: Record<string, (busy: Busy) => (readonly [string, string | RegExp])[]> = {
  apps: ({ app }) => [
    [`/dashboard?dialog=edit-app&id=${app._id}`, 'Edit App'],
    [`/dashboard?dialog=created-app&id=${app._id}`, /is ready/],
    [`/dashboard?dialog=delete-app&id=${app._id}`, 'Delete Application'],
  ],
  licenses: ({ used }) => [
    ['/licenses?dialog=generate', 'Generate License'],
    [`/licenses?dialog=edit-expiry&id=${used._id}`, 'Edit Expiry'],
    [`/licenses?dialog=change-type&id=${used._id}`, 'Change License Type'],
    [`/licenses?dialog=delete&id=${used._id}`, 'Delete License'],
    ['/licenses?dialog=delete-all', 'Delete All Licenses'],
  ],
  'end users': ({ erik }) => [
    ['/users?dialog=create', 'Create End User'],
    [`/users?dialog=ban&id=${erik._id}`, 'Ban erik?'],
    [`/users?dialog=reset-hwid&id=${erik._id}`, 'Reset HWID of erik?'],
    [`/users?dialog=extend&id=${erik._id}`, 'Extend erik'],
    [`/users?dialog=delete&id=${erik._id}`, 'Delete erik?'],
  ],
  'the account': () => [
    ['/profile?dialog=change-password', 'Change Password'],
    ['/profile?dialog=change-email', 'Update Email'],
    ['/settings?dialog=reset-data', 'Reset all platform data?'],
    ['/settings/api-keys?dialog=create', 'Create API Key'],
    ['/settings/integrations?dialog=create', 'Create Webhook'],
    ['/members?dialog=invite', 'Invite a Member'],
  ],
}

for (const [where, dialogsOf] of Object.entries(dialogs)) {
  test(`every dialog of ${where} is accessible and fits the screen`, {
    tag: ['@full', '@phone'],
  }, async ({ page, request }) => {
    const busy = await busyVendor(request)
    for (const [index, [path, title]] of dialogsOf(busy).entries()) {
      if (index === 0) await enter(page, busy.vendor, path)
      else await visit(page, path)
      const open = dialog(page, title)
      await expect(open).toBeVisible()
      if (path.includes('created-app')) await expect(open.locator('pre').last()).toBeVisible()
      // The page behind it is asked in pages.spec.ts.
      await expectAccessible(page, path, { within: '[role=dialog], [role=alertdialog]' })
      const box = await open.boundingBox()
      const { width, height } = page.viewportSize()!
      expect.soft(box!.y, `${path}: top`).toBeGreaterThanOrEqual(0)
      expect.soft(box!.y + box!.height, `${path}: bottom`).toBeLessThanOrEqual(height + 1)
      expect.soft(box!.x + box!.width, `${path}: right`).toBeLessThanOrEqual(width + 1)
    }
  })
}

test('generated keys and the first app are accessible and fit the screen', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/dashboard?dialog=new-app')
  await expect(dialog(page, 'Add New App')).toBeVisible()
  await expectAccessible(page, 'a new app')

  await vendor.createApp('Tally')
  await visit(page, '/licenses?dialog=generate')
  await page.getByRole('combobox', { name: 'Application' }).click()
  await page.getByRole('option', { name: 'Tally' }).click()
  await page.getByLabel('Amount').fill('5')
  await dialog(page, 'Generate License').getByRole('button', { name: 'Generate License' }).click()
  await expect(dialog(page, 'Licenses Generated')).toBeVisible()
  await expectAccessible(page, 'the generated keys, with a toast')
})

test('a page that does not exist is accessible and fits the screen', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  await enter(page, await Vendor.signUp(request))
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.evaluate(
    `history.pushState({}, '', '/no/such/page'); dispatchEvent(new PopStateEvent('popstate'))`,
  )
  await expect(heading(page, 'Oops! Page not found')).toBeVisible()
  await expectAccessible(page, '404')
})

/** Texts that end in an ellipsis, where no title shows the whole. */
const cutTexts = (page: Page) =>
  page.evaluate<string[]>(`
    [...document.querySelectorAll('body *')]
      .filter((node) => getComputedStyle(node).textOverflow === 'ellipsis')
      .filter((node) => node.tagName !== 'INPUT' && node.scrollWidth > node.clientWidth + 1)
      .filter((node) => !node.closest('[title]') && !node.querySelector('[title]'))
      .map((node) => node.textContent)
  `)

test('1,000 licenses and very long names do not break the layout', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
  keyward,
}) => {
  const long = (length: number) => 'Donaudampfschifffahrtsgesellschaft'.repeat(9).slice(0, length)
  const vendor = await Vendor.signUp(request, long(100))
  makePremium(keyward, vendor)
  const app = await vendor.createApp(long(80))
  for (let hundred = 0; hundred < 10; hundred += 1) await vendor.createLicenses(app, 100)
  const expiresAt = new Date(Date.now() + 1e9).toISOString()
  const { license } = await vendor.call('POST', '/licenses', { app: app._id, expiresAt, note: long(200) })
  await (await Program.start(request, app)).register(long(64), license, long(200))
  const { clients } = await vendor.call('GET', '/clients')

  await enter(page, vendor)
  for (const [path, ready] of [
    ['/dashboard', row(page, app.appId)],
    ['/licenses', page.getByText('1–25 of 1,001 licenses')],
    ['/licenses?page=41', page.getByText('1,001–1,001 of 1,001 licenses')],
    ['/users', row(page, keyPrefix(license.key))],
    ['/activity', page.getByText('Registered').first()],
    ['/audit?actor=all', page.getByText('User registered').first()],
    ['/profile', page.getByRole('button', { name: 'Change Password' })],
    [`/dashboard?dialog=delete-app&id=${app._id}`, dialog(page, 'Delete Application')],
    [`/dashboard?dialog=created-app&id=${app._id}`, dialog(page, /is ready/).locator('pre')],
    ...appTabs.map(
      (tab) => [`/apps/${app._id}?tab=${tab}`, page.getByRole('tabpanel').getByRole('heading')] as const,
    ),
    ['/licenses?dialog=generate', dialog(page, 'Generate License')],
    [`/licenses?dialog=delete&id=${license._id}`, dialog(page, 'Delete License')],
    [`/users?dialog=ban&id=${clients[0]._id}`, dialog(page, /Ban/)],
    [`/users?dialog=extend&id=${clients[0]._id}`, dialog(page, /Extend/)],
  ] as const) {
    await visit(page, path)
    await expect(ready.first()).toBeVisible()
    await expectToFit(page, path)
    expect.soft(await cutTexts(page), `${path}: cut texts without a title`).toEqual([])
    for (const scroller of await page.locator('[role=dialog], [role=alertdialog]').all()) {
      const [content, width] = await scroller.evaluate((node) => [node.scrollWidth, node.clientWidth])
      expect.soft(content, `${path}: the dialog's content`).toBeLessThanOrEqual(width!)
    }
  }
  if (isPhone(page)) {
    await visit(page, '/dashboard')
    await openMenu(page)
    await expectToFit(page, 'the menu of the phone')
  }
})

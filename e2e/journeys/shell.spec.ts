import { readFileSync } from 'node:fs'
import type { Locator, Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { phone } from '../repeated.ts'
import {
  dialog,
  enter,
  expectToast,
  heading,
  isPhone,
  mainNavigation,
  navigate,
  openMenu,
  row,
  Vendor,
} from '../steps.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

const hint = 'Create an app first to access this section'

test.describe('sidebar', () => {
  test('lists its entries in order and marks the current page', { tag: '@phone' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor)
    await openMenu(page)
    const entries = mainNavigation(page).getByRole('listitem')
    await expect(entries).toHaveText([
      'Dashboard',
      'Resellers',
      'Licenses',
      'Orders',
      'Sales',
      'End Users',
      'Customers',
      'Activity',
      'Profile',
      'Settings',
      'Members',
      'Audit',
      'Subscription',
      'Log Out',
    ])
    const links = mainNavigation(page).getByRole('link')
    const targets = [
      '/',
      '/resellers',
      '/licenses',
      '/orders',
      '/sales',
      '/users',
      '/customers',
      '/activity',
      '/profile',
      '/settings',
      '/members',
      '/audit',
      '/subscription',
    ]
    for (const [index, target] of targets.entries()) {
      await expect(links.nth(index)).toHaveAttribute('href', target)
    }
    const current = mainNavigation(page).locator('[aria-current=page]')
    await expect(current).toHaveText(['Dashboard'])
    for (const [entry, path] of [
      ['Resellers', '/resellers'],
      ['Licenses', '/licenses'],
      ['Orders', '/orders'],
      ['End Users', '/users'],
      ['Activity', '/activity'],
      ['Profile', '/profile'],
      ['Settings', '/settings'],
    ] as const) {
      if (!(await mainNavigation(page).isVisible())) await openMenu(page)
      await mainNavigation(page).getByRole('link', { name: entry, exact: true }).click()
      await expect(page).toHaveURL(path)
      await expect(heading(page, entry)).toBeVisible()
      if (isPhone(page)) await openMenu(page)
      await expect(current).toHaveText([entry])
    }

    await test.step('shows the product and its version, and links to the documents inside the shell', async () => {
      if (isPhone(page)) await page.keyboard.press('Escape')
      const footer = page.getByRole('contentinfo')
      await expect(footer).toContainText('Secure authentication platform')
      await expect(footer).toContainText(`Version ${version}`)
      await expect(footer.getByRole('link')).toHaveText(['About', 'Terms', 'Privacy'])
      for (const [name, path] of [
        ['About', '/about'],
        ['Terms', '/terms'],
        ['Privacy', '/privacy'],
      ] as const) {
        // By key: the footer moves while a page loads, and a click would miss it.
        await footer.getByRole('link', { name }).press('Enter')
        await expect(page).toHaveURL(path)
        await expect(page.getByRole('heading', { level: 1 })).toContainText(name)
        await openMenu(page)
        if (isPhone(page)) await page.keyboard.press('Escape')
      }
    })
  })

  test('disables entries that need an app, with a hint, until there is one', {
    tag: ['@full', '@phone'],
  }, async ({ page, request }) => {
    await enter(page, await Vendor.signUp(request))
    await openMenu(page)
    for (const entry of ['Resellers', 'Licenses', 'Orders', 'End Users', 'Activity']) {
      const disabled = mainNavigation(page).getByRole('button', { name: entry })
      await expect(disabled).toHaveAttribute('aria-disabled', 'true')
      // click() waits until an entry is enabled; hover() waits only until it has stopped moving and is not covered.
      await disabled.hover()
      if (!isPhone(page)) await expect(page.getByRole('tooltip', { name: hint })).toBeVisible()
      await page.mouse.down()
      await page.mouse.up()
      await expect(page).toHaveURL('/dashboard')
      await expectToast(page, hint)
    }
    if (isPhone(page)) await page.getByRole('button', { name: 'Close menu' }).click()

    await page.getByRole('button', { name: 'Create Your First App' }).first().click()
    await page.getByLabel('App Name').fill('Tally')
    await page.getByRole('button', { name: 'Create App' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await navigate(page, 'Licenses')
    await expect(heading(page, 'Licenses')).toBeVisible()
  })

  test('Ctrl+B collapses and expands it, and a cookie keeps the state for 7 days', async ({
    page,
    context,
    request,
  }) => {
    await enter(page, await Vendor.signUp(request))
    const sidebar = page.getByRole('complementary', { name: 'Sidebar' })
    await expect(sidebar).toHaveCSS('width', '256px')
    await pressUntil(page, 'Control+b', sidebar, '48px')
    const secondsFromWeek = async () => {
      const cookie = (await context.cookies()).find(({ name }) => name === 'keyward-sidebar')
      return Math.abs((cookie?.expires ?? 0) - Date.now() / 1000 - 7 * 24 * 60 * 60)
    }
    await expect.poll(secondsFromWeek).toBeLessThan(600)
    await page.reload()
    await expect(sidebar).toHaveCSS('width', '48px')
    const entry = mainNavigation(page).getByRole('link', { name: 'Settings' })
    await entry.hover()
    await expect(page.getByRole('tooltip', { name: 'Settings' })).toBeVisible()
    await entry.click()
    await expect(heading(page, 'Settings')).toBeVisible()
    await pressUntil(page, 'Meta+b', sidebar, '256px')
    await page.getByRole('button', { name: 'Collapse sidebar' }).click()
    await expect(sidebar).toHaveCSS('width', '48px')
    await page.getByRole('button', { name: 'Expand sidebar' }).click()
    await expect(sidebar).toHaveCSS('width', '256px')

    await test.step('marks a development server, and no other', async () => {
      await expect(page.getByText('Dev mode')).toBeVisible()
      await expect(page.getByTitle('only this machine reaches it, and payments are simulated.')).toBeVisible()
      const answer = await (await request.get('/api/config')).json()
      const data = { ...answer.data, development: false }
      await page.route('**/api/config', (route) => route.fulfill({ json: { ...answer, data } }))
      const configured = page.waitForResponse('**/api/config')
      await page.reload()
      await configured
      await expect(heading(page, 'Settings')).toBeVisible()
      await expect(page.getByText('Dev mode')).toHaveCount(0)
    })

    await test.step('can skip the sidebar', async () => {
      await page.keyboard.press('Tab')
      const skip = page.getByRole('link', { name: 'Skip to content' })
      await expect(skip).toBeFocused()
      await expect(skip).toBeInViewport()
      await page.keyboard.press('Enter')
      await expect(page.locator('#main')).toBeFocused()
    })

    await test.step('its logo links to /landing, which redirects signed-in owners to the dashboard', async () => {
      const logo = page.getByRole('link', { name: 'Keyward' })
      await expect(logo).toHaveAttribute('href', '/landing')
      await logo.click()
      await expect(page).toHaveURL('/dashboard')
    })

    await test.step('applies the phone layout below 768 pixels', async () => {
      await page.setViewportSize({ width: 767, height: 900 })
      await expect(page.getByRole('button', { name: 'Open menu' })).toBeVisible()
      await expect(sidebar).toHaveCount(0)
      await page.setViewportSize({ width: 768, height: 900 })
      await expect(sidebar).toBeVisible()
      await expect(page.getByRole('button', { name: 'Open menu' })).toHaveCount(0)
    })

    await test.step('is a sheet on phones, closed by a link, Escape and Ctrl+B', async () => {
      await page.setViewportSize(phone)
      await expect(mainNavigation(page)).toBeHidden()
      await openMenu(page)
      const sheet = dialog(page, 'Menu')
      await expect(sheet).toHaveCSS('width', '288px')
      await sheet.getByRole('link', { name: 'Settings' }).click()
      await expect(heading(page, 'Settings')).toBeVisible()
      await expect(sheet).toBeHidden()
      await openMenu(page)
      await page.keyboard.press('Escape')
      await expect(sheet).toBeHidden()
      await expect(page.getByRole('button', { name: 'Open menu' })).toBeFocused()
      await page.keyboard.press('Control+b')
      await expect(sheet).toBeVisible()
      await page.keyboard.press('Control+b')
      await expect(sheet).toBeHidden()
    })
  })
})

test.describe('footer', () => {
  test('links to the policies and the community that the operator configured', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const links = {
      shipping: 'https://pay.example.com/shipping',
      refund: 'https://pay.example.com/refund',
      paymentTerms: 'https://pay.example.com/terms',
      community: 'https://chat.example.com/',
      videos: 'https://videos.example.com/',
    }
    await page.route('**/api/config', async (route) => {
      const answer = await route.fetch()
      const json = await answer.json()
      await route.fulfill({ json: { ...json, data: { ...json.data, links } } })
    })
    await enter(page, await Vendor.signUp(request))
    const footer = page.getByRole('contentinfo')
    for (const href of Object.values(links)) await expect(footer.locator(`a[href="${href}"]`)).toBeVisible()
  })
})

test.describe('any other path', () => {
  test('shows a 404 page with a link home', async ({ page }) => {
    const answer = await page.goto('/no/such/page')
    expect(answer?.status()).toBe(404)
    await expect(heading(page, 'Oops! Page not found')).toBeVisible()
    await page.getByRole('main').getByRole('link').click()
    await expect(page).toHaveURL('/')
  })

  test('shows the same page to signed-in owners', { tag: '@full' }, async ({ page, request }) => {
    await enter(page, await Vendor.signUp(request), '/dashboards')
    await expect(heading(page, 'Oops! Page not found')).toBeVisible()
    await page.getByRole('main').getByRole('link').click()
    await expect(page).toHaveURL('/dashboard')
  })
})

test.describe('keyboard', () => {
  test('suffices to sign in, create an app and log out', { tag: ['@full', '@phone'] }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await page.goto('/auth')
    await tabTo(page, page.getByLabel('Email'))
    await page.keyboard.type(vendor.email)
    await page.keyboard.press('Tab')
    await page.keyboard.type(vendor.password)
    await page.keyboard.press('Enter')
    await expect(heading(page, /^Welcome/)).toBeVisible()

    const add = page.getByRole('button', { name: 'Add App' })
    await tabTo(page, add)
    await page.keyboard.press('Enter')
    await expect(dialog(page, 'Add New App')).toBeVisible()
    await tabTo(page, page.getByLabel('App Name'))
    await page.keyboard.type('Typed')
    await page.keyboard.press('Enter')
    await expect(dialog(page, 'Typed is ready')).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(dialog(page, 'Typed is ready')).toBeHidden()
    await expect(row(page, 'Typed')).toBeVisible()

    await tabTo(page, page.getByRole('button', { name: 'Actions for Typed' }))
    await page.keyboard.press('Enter')
    await expect(page.getByRole('menuitem', { name: 'Pause App' })).toBeFocused()
    await page.keyboard.press('Enter')
    await tabTo(page, dialog(page, 'Pause Typed?').getByRole('button', { name: 'Pause App' }))
    await page.keyboard.press('Enter')
    await expect(row(page, 'Typed')).toContainText('Paused')
    await expect(page.getByRole('button', { name: 'Actions for Typed' })).toBeFocused()

    if (isPhone(page)) {
      await tabTo(page, page.getByRole('button', { name: 'Open menu' }), 'Shift+Tab')
      await page.keyboard.press('Enter')
      await expect(mainNavigation(page)).toBeVisible()
    }
    await tabTo(page, page.getByRole('button', { name: 'Log Out' }), isPhone(page) ? 'Tab' : 'Shift+Tab')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL('/auth')
  })
})

/** The page may handle a key only some time after it shows what the key changes. */
const pressUntil = (page: Page, key: string, target: Locator, width: string) =>
  expect(async () => {
    await page.keyboard.press(key)
    await expect(target).toHaveCSS('width', width, { timeout: 5000 })
  }).toPass()

/** Moves between controls with the keyboard. */
async function tabTo(page: Page, target: Locator, key = 'Tab') {
  await expect(target).toBeVisible()
  for (let presses = 0; presses < 60; presses += 1) {
    if (await target.evaluate((node) => node === node.ownerDocument.activeElement)) return
    await page.keyboard.press(key)
  }
  throw new Error('the keyboard does not get there')
}

import type { Page } from '@playwright/test'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import { dialog, enter, heading, keyPrefix, openPalette, storeToken, Vendor } from '../steps.ts'

const palette = (page: Page) => dialog(page, 'Search or go to')
const field = (page: Page) => page.getByRole('combobox', { name: 'Search or go to' })
const option = (page: Page, name: string | RegExp) => palette(page).getByRole('option', { name })
/** Presses G and a letter; a slow machine may take longer than the console waits for the letter. */
const goTo = (page: Page, letter: string, path: string) =>
  expect(async () => {
    await page.keyboard.press('g')
    await page.keyboard.press(letter)
    await expect(page).toHaveURL(path, { timeout: 2000 })
  }).toPass()
const shortcuts = (page: Page) => dialog(page, 'Keyboard shortcuts')

test.describe('command palette', () => {
  test('finds a license by part of its key and an end user by name or id, with the keyboard only', {
    tag: '@full',
  }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [license] = await vendor.createLicenses(app, 3)
    const user = await vendor.createEndUser(app, 'marguerite')
    await enter(page, vendor, '/settings')

    await openPalette(page)
    await page.keyboard.type(license!.key.slice(7, 16).toLowerCase())
    await expect(option(page, license!.key)).toHaveAttribute('aria-selected', 'true')
    await expect(palette(page).getByRole('option')).toHaveCount(1)
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(`/licenses/${license!._id}`)
    await expect(palette(page)).toBeHidden()
    await expect(heading(page, keyPrefix(license!.key))).toBeVisible()
    await expect(page.locator('#main')).toBeFocused()

    for (const text of ['rgueri', user._id]) {
      await openPalette(page)
      await page.keyboard.type(text)
      await expect(option(page, 'marguerite')).toHaveAttribute('aria-selected', 'true')
      await page.keyboard.press('Enter')
      await expect(page).toHaveURL(`/users/${user._id}`)
      await expect(heading(page, 'marguerite')).toBeVisible()
      await page.goto('/settings')
    }
  })

  test('finds a reseller by part of its email, and lists what was opened until its owner logs out', {
    tag: '@full',
  }, async ({ page, request, keyward }) => {
    const { vendor, app } = await premiumVendor(request, keyward)
    const { _id, email } = await createReseller(vendor, app)
    const user = await vendor.createEndUser(app, 'marguerite')
    await enter(page, vendor, '/settings')
    for (const [text, name, path] of [
      [user.username, 'marguerite', `/users/${user._id}`],
      [email.slice(2, 24), email, `/resellers/${_id}`],
    ] as const) {
      await openPalette(page)
      await page.keyboard.type(text)
      await expect(option(page, name)).toHaveAttribute('aria-selected', 'true')
      await page.keyboard.press('Enter')
      await expect(page).toHaveURL(path)
      await expect(page.getByRole('main').getByText(name).first()).toBeVisible()
    }
    await page.goto('/settings')
    await openPalette(page)
    const recent = palette(page).getByRole('group', { name: 'Recent' }).getByRole('option')
    await expect(recent).toHaveText([new RegExp(email), /marguerite/])
    await recent.nth(1).click()
    await expect(page).toHaveURL(`/users/${user._id}`)
    await openPalette(page)
    await expect(recent).toHaveText([/marguerite/, new RegExp(email)])
    await page.keyboard.type('log out')
    await expect(option(page, 'Log out')).toHaveAttribute('aria-selected', 'true')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL('/auth')
    const again = await request.post('/api/auth/login', {
      data: { email: vendor.email, password: vendor.password },
    })
    await storeToken(page, (await again.json()).data.token)
    await page.goto('/settings')
    await openPalette(page)
    await expect(option(page, 'Dashboard')).toBeVisible()
    await expect(recent).toHaveCount(0)
  })

  test('takes every letter from Ctrl K on, at once after a load and before its results are loaded', {
    tag: '@full',
  }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createEndUser(await vendor.createApp(), 'carla.o')
    await enter(page, vendor)
    let load = () => {}
    const isAsked = new Promise<void>((resolve) => (load = resolve))
    await page.route('**/assets/palette-*.js', async (route) => {
      await isAsked
      await route.continue()
    })
    await page.reload()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('carla.o')
    await expect(field(page)).toHaveValue('carla.o')
    await expect(page).toHaveURL('/dashboard')
    await expect(page.getByRole('dialog')).toHaveCount(1)
    load()
    await expect(option(page, 'carla.o')).toHaveAttribute('aria-selected', 'true')
    await page.keyboard.press('Enter')
    await expect(heading(page, 'carla.o')).toBeVisible()
  })

  test('offers a reference only if the server knows it', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [license] = await vendor.createLicenses(app)
    await enter(page, vendor, '/settings')
    await openPalette(page)
    await page.keyboard.type(license!.key.slice(0, 11))
    await expect(option(page, license!.key)).toHaveAttribute('aria-selected', 'true')
    await expect(palette(page).getByRole('status')).toHaveText('1 result')
    await expect(palette(page).getByRole('option')).toHaveCount(1)
  })

  test('offers what the frame offers', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    const answer = await (await request.get('/api/config')).json()
    answer.data.links.refund = 'https://policies.example/refund'
    await page.route('**/api/config', (route) => route.fulfill({ json: answer }))
    await enter(page, vendor, '/settings')
    await openPalette(page)
    for (const name of [
      'Refund Policy',
      'Reseller portal',
      'Keyboard shortcuts',
      'Import licenses',
      'Log out',
    ])
      await expect(option(page, name)).toBeAttached()
    await option(page, 'Expand or collapse the sidebar').click()
    await expect(page.getByRole('button', { name: 'Expand sidebar' })).toBeVisible()
    await openPalette(page)
    await option(page, 'Change password').click()
    await expect(dialog(page, 'Change Password')).toBeVisible()
  })

  test('gives every page an icon of its own', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor, '/settings')
    await openPalette(page)
    const pages = palette(page).getByRole('group', { name: 'Go to' }).getByRole('option')
    await expect(pages).toHaveCount(22)
    const icons = await Promise.all((await pages.all()).map((entry) => entry.locator('svg').innerHTML()))
    expect(new Set(icons).size).toBe(icons.length)
  })

  test('supports arrow keys, closes with Escape, and returns the focus', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor)
    const button = page.getByRole('button', { name: 'Search or go to' })
    await button.focus()
    await page.keyboard.press('Enter')
    await expect(field(page)).toBeFocused()
    await expect(field(page)).toHaveAttribute('aria-expanded', 'true')
    const selected = palette(page).locator('[role=option][aria-selected=true]')
    await expect(selected).toHaveText(/^Dashboard/)
    await expect(field(page)).toHaveAttribute('aria-activedescendant', (await selected.getAttribute('id'))!)
    await page.keyboard.press('ArrowDown')
    await expect(selected).toHaveText(/^Resellers/)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    await expect(selected).toHaveText('Log out')
    await expect(selected).toBeInViewport()
    await expect(field(page)).toHaveAttribute('aria-activedescendant', (await selected.getAttribute('id'))!)
    await page.keyboard.press('Escape')
    await expect(palette(page)).toBeHidden()
    await expect(button).toBeFocused()
  })

  test('opens pages and create dialogs, switches the theme and logs out', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await enter(page, vendor)
    const choose = async (text: string, name: string | RegExp) => {
      await openPalette(page)
      await page.keyboard.type(text)
      await option(page, name).click()
    }
    await openPalette(page)
    await expect(option(page, 'Generate license')).toHaveCount(0)
    await page.keyboard.press('Escape')
    await vendor.createApp()
    await page.reload()

    for (const [text, name, title, path] of [
      ['create app', 'Create app', 'Add New App', '/dashboard?dialog=new-app'],
      ['license', 'Generate license', /Generate License/, '/licenses?dialog=generate'],
      ['end user', 'Create end user', /Create End User/, '/users?dialog=create'],
      ['resell', 'Create reseller', /.+/, '/resellers?dialog=create'],
      ['buyer', 'Add customer', 'Add Customer', '/customers?dialog=create'],
    ] as const) {
      await choose(text, name)
      await expect(page).toHaveURL(path)
      await expect(dialog(page, title).last()).toBeVisible()
      await page.keyboard.press('Escape')
      await expect(page.getByRole('dialog')).toHaveCount(0)
    }
    await choose('profile', /^Profile/)
    await expect(heading(page, /Profile/)).toBeVisible()
    await choose('tally', /^Tally/)
    await expect(heading(page, 'Tally')).toBeVisible()

    await choose('dark', 'Dark theme')
    await expect(page.locator('html')).toHaveClass(/dark/)
    await choose('light', 'Light theme')
    await expect(page.locator('html')).not.toHaveClass(/dark/)
    await choose('sign out', 'Log out')
    await expect(page).toHaveURL('/auth')
  })

  test('is accessible, light and dark, with and without a search', { tag: ['@full', '@phone'] }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await vendor.createEndUser(app, 'marguerite')
    await enter(page, vendor)
    await openPalette(page)
    await expectAccessible(page, 'the palette', { within: '[role=dialog]' })
    await page.keyboard.type('marg')
    await expect(option(page, 'marguerite')).toBeVisible()
    await expectAccessible(page, 'what the palette found', { within: '[role=dialog]' })
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await expect(shortcuts(page)).toBeVisible()
    await expectAccessible(page, 'the keyboard shortcuts', { within: '[role=dialog]' })
  })
})

test.describe('shortcuts', () => {
  test('are listed by ?, open pages, create and search', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor)
    await openPalette(page)
    await page.keyboard.press('Escape')
    await expect(palette(page)).toBeHidden()

    await page.keyboard.press('?')
    await expect(shortcuts(page)).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(shortcuts(page)).toBeHidden()
    for (const [key, path] of [
      ['l', '/licenses'],
      ['u', '/users'],
      ['r', '/resellers'],
      ['s', '/settings'],
      ['d', '/dashboard'],
    ] as const) {
      await goTo(page, key, path)
    }
    await page.keyboard.press('c')
    await expect(dialog(page, 'Add New App')).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(dialog(page, 'Add New App')).toBeHidden()

    await goTo(page, 'l', '/licenses')
    const search = page.getByRole('searchbox', { name: 'Search licenses' })
    await expect(search).toBeVisible()
    await page.keyboard.press('/')
    await expect(search).toBeFocused()
  })

  test('are disabled while typing and while a dialog is open, and can be turned off', async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor, '/licenses')
    await test.step('shows no data of another vendor', async () => {
      const neighbour = await Vendor.signUp(request)
      const [theirs] = await neighbour.createLicenses(await neighbour.createApp())
      await openPalette(page)
      await page.keyboard.type(theirs!.key)
      await expect(palette(page).getByText('Nothing matches')).toBeVisible()
      await expect(palette(page).getByRole('option')).toHaveCount(0)
      await expect(palette(page).getByRole('status')).toHaveText('0 results')
    })
    await page.keyboard.press('Escape')
    await expect(palette(page)).toBeHidden()

    const search = page.getByRole('searchbox', { name: 'Search licenses' })
    await search.focus()
    await page.keyboard.type('gd?c/')
    await page.keyboard.press('Control+k')
    await expect(search).toHaveValue('gd?c/')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await search.fill('')
    await search.blur()

    await page.keyboard.press('?')
    await expect(shortcuts(page)).toBeVisible()
    await page.keyboard.press('g')
    await page.keyboard.press('d')
    await page.keyboard.press('Control+k')
    await expect(page).toHaveURL('/licenses')
    await expect(palette(page)).toBeHidden()

    await shortcuts(page).getByRole('switch', { name: 'Single-key shortcuts' }).click()
    await page.keyboard.press('Escape')
    await expect(shortcuts(page)).toBeHidden()
    await page.keyboard.press('g')
    await page.keyboard.press('d')
    await page.keyboard.press('?')
    await page.keyboard.press('Control+k')
    await expect(palette(page)).toBeVisible()
    await expect(page).toHaveURL('/licenses')
    await expect(shortcuts(page)).toBeHidden()
  })
})

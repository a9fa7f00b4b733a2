import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import {
  dialog,
  enter,
  expectToast,
  fact,
  figure,
  heading,
  inDays,
  makePremium,
  navigate,
  Program,
  pauseAll,
  shownDate,
  storedToken,
  Vendor,
  visit,
} from '../steps.ts'

const html = (page: Page) => page.locator('html')
const theme = (page: Page, name: string) => page.getByRole('radio', { name })

/** Clicks the label, because the input itself is visually hidden. */
const chooseTheme = (page: Page, name: string) =>
  page.getByRole('main').locator('label').filter({ hasText: name }).click()

test.describe('theme', () => {
  test('a choice applies immediately and after a reload', { tag: '@full' }, async ({ page, request }) => {
    await enter(page, await Vendor.signUp(request), '/settings')
    await expect(theme(page, 'System')).toBeChecked()
    await chooseTheme(page, 'Dark')
    await expect(html(page)).toHaveClass(/dark/)
    await page.reload()
    await expect(theme(page, 'Dark')).toBeChecked()
    await expect(html(page)).toHaveClass(/dark/)
    await chooseTheme(page, 'Light')
    await expect(html(page)).not.toHaveClass(/dark/)
    await page.reload()
    await expect(theme(page, 'Light')).toBeChecked()
    await expect(html(page)).not.toHaveClass(/dark/)
  })

  test('System follows the device, even while the page is open', async ({ page, request }) => {
    await page.emulateMedia({ colorScheme: 'dark' })
    const vendor = await Vendor.signUp(request, 'Paula Profile')
    const app = await vendor.createApp()
    await enter(page, vendor, '/settings')
    await expect(html(page)).toHaveClass(/dark/)
    await page.emulateMedia({ colorScheme: 'light' })
    await expect(html(page)).not.toHaveClass(/dark/)
    await chooseTheme(page, 'Dark')
    await expect(html(page)).toHaveClass(/dark/)
    await chooseTheme(page, 'System')
    await expect(html(page)).not.toHaveClass(/dark/)
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect(html(page)).toHaveClass(/dark/)

    await test.step('Pause Applications rejects every program, and is saved', async () => {
      const pause = page.getByRole('switch', { name: 'Pause Applications' })
      await expect(pause).not.toBeChecked()
      await pause.click()
      const question = dialog(page, 'Pause all applications?')
      await expect(question).toContainText('0 end users in 1 app are refused from the next call on.')
      await question.getByRole('button', { name: 'Cancel' }).click()
      await expect(question).toBeHidden()
      await expect(page).toHaveURL('/settings')
      await expect(pause).not.toBeChecked()
      await pauseAll(page)
      const banner = page.getByRole('region', { name: 'Paused applications' })
      await expect(banner).toContainText('All applications are paused')
      await page.getByRole('button', { name: 'Undo' }).click()
      await expect(banner).toBeHidden()
      expect(await Program.init(request, app)).toMatchObject({ body: { success: true } })
      await pauseAll(page)
      await expect(banner).toBeVisible()
      expect(await Program.init(request, app)).toMatchObject({
        status: 403,
        body: { code: 'appDisabled', message: 'Application is currently disabled' },
      })
      await page.reload()
      await expect(pause).toBeChecked()
      await visit(page, '/licenses')
      await banner.getByRole('button', { name: 'Resume Applications' }).click()
      await expectToast(page, 'Settings updated successfully')
      await expect(banner).toBeHidden()
      expect(await Program.init(request, app)).toMatchObject({ body: { success: true } })
    })

    await test.step('shows the account, the free plan and its limits', async () => {
      await navigate(page, 'Profile')
      const main = page.getByRole('main')
      for (const text of ['Paula Profile', vendor.email, 'App Owner', shownDate(inDays(0))]) {
        await expect(main.getByText(text, { exact: true }).first()).toBeVisible()
      }
      for (const [term, value] of [
        ['Status', 'Active'],
        ['Max Apps', '2'],
        ['Max Licenses/App', '30'],
        ['Max Resellers', '0'],
      ] as const) {
        await expect(fact(page, term)).toHaveText(value)
      }
      await expect(figure(page, 'Total Apps')).toContainText('1')
      await expect(figure(page, 'Payment Status')).toContainText('Unpaid')
      await expect(figure(page, 'Premium Access')).toContainText('No')
      await expect(main.getByRole('link', { name: 'Upgrade Now' })).toHaveAttribute('href', '/subscription')
    })
  })

  test('high contrast shows the chosen theme, the open page and what a switch is set to', {
    tag: '@full',
  }, async ({ page, request }) => {
    await page.emulateMedia({ forcedColors: 'active' })
    await enter(page, await Vendor.signUp(request), '/settings')
    await expect(page.getByRole('switch').first()).toBeVisible()
    const outlineOf = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).outlineStyle`)
    for (const selector of ['main label:has(:checked)', 'nav [aria-current="page"]', '[role="switch"]'])
      expect.soft(await outlineOf(selector), selector).toBe('solid')
    const fills = await page.evaluate<string[]>(
      `[...document.querySelectorAll('[role="switch"]')].map((one) => getComputedStyle(one).backgroundColor)`,
    )
    expect(new Set(fills).size, 'off and on differ').toBe(2)
  })

  test('is set before the first paint', { tag: '@full' }, async ({ page }) => {
    await page.addInitScript(`
      new MutationObserver((_, observer) => {
        if (!document.body) return
        window.darkWhenBodyCame = document.documentElement.classList.contains('dark')
        observer.disconnect()
      }).observe(document, { childList: true, subtree: true })
    `)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto('/auth')
    expect(await page.evaluate('darkWhenBodyCame')).toBe(false)
    await page.evaluate(`localStorage.setItem('keyward-theme', 'dark')`)
    await page.reload()
    expect(await page.evaluate('darkWhenBodyCame')).toBe(true)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.evaluate(`localStorage.setItem('keyward-theme', 'light')`)
    await page.reload()
    expect(await page.evaluate('darkWhenBodyCame')).toBe(false)
  })
})

test.describe('switches', () => {
  test('HWID Lock controls whether another device can sign in', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [license] = await vendor.createLicenses(app)
    const program = await Program.start(request, app)
    await program.register('erik', license!, 'first device')
    expect(await program.login('erik', 'second device')).toMatchObject({ body: { code: 'hwidMismatch' } })
    await enter(page, vendor, '/settings')
    const lock = page.getByRole('switch', { name: 'HWID Lock' })
    await expect(lock).toBeChecked()
    await lock.click()
    await expectToast(page, 'Settings updated successfully')
    expect(await program.login('erik', 'second device')).toMatchObject({ body: { success: true } })
    await page.reload()
    await expect(lock).not.toBeChecked()
    await lock.click()
    await expectToast(page, 'Settings updated successfully')
    expect(await program.login('erik', 'second device')).toMatchObject({ body: { code: 'hwidMismatch' } })
  })

  test('a switch reverts when the server rejects the change', { tag: '@full' }, async ({ page, request }) => {
    await enter(page, await Vendor.signUp(request), '/settings')
    const pause = page.getByRole('switch', { name: 'Pause Applications' })
    await expect(pause).not.toBeChecked()
    await page.route('**/api/settings', (route) =>
      route.fulfill({ status: 500, json: { success: false, message: 'The cellar is flooded' } }),
    )
    await pauseAll(page)
    await expectToast(page, 'The cellar is flooded')
    await dialog(page, 'Pause all applications?').getByRole('button', { name: 'Cancel' }).click()
    await expect(pause).not.toBeChecked()
  })
})

test('Reset Data requires a typed word and the password, deletes everything except the account, and logs out everywhere', async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 3)
  await (await Program.start(request, app)).register('erik', license!)
  await enter(page, vendor, '/settings')
  await page.getByRole('button', { name: 'Reset Data' }).click()
  const question = dialog(page, 'Reset all platform data?')
  const confirm = question.getByRole('button', { name: 'Reset Data' })
  await expect(confirm).toBeDisabled()
  await question.getByLabel('Type RESET to confirm').fill('reset')
  await expect(confirm).toBeDisabled()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect(question).toBeHidden()
  expect(await vendor.call('GET', '/apps')).toMatchObject({ count: 1 })

  await page.getByRole('button', { name: 'Reset Data' }).click()
  await expect(question.getByLabel('Type RESET to confirm')).toHaveValue('')
  await question.getByLabel('Type RESET to confirm').fill('RESET')
  await expect(confirm).toBeDisabled()
  const password = question.getByLabel('Password', { exact: true })
  await password.fill('not the password')
  await confirm.click()
  await expect(question.getByText('The password is not correct')).toBeVisible()
  await expect(password).toHaveAttribute('aria-invalid', 'true')
  expect(await vendor.call('GET', '/apps')).toMatchObject({ count: 1 })
  await password.fill(vendor.password)
  await confirm.click()
  await expectToast(page, 'Platform data has been reset successfully')
  await expect(page).toHaveURL('/auth')
  expect(await storedToken(page)).toBeNull()
  await expect(vendor.call('GET', '/apps')).rejects.toThrow('401')
  expect(await Program.init(request, app)).toMatchObject({ body: { code: 'appDisabled' } })

  await page.getByLabel('Email').fill(vendor.email)
  await page.getByLabel('Password', { exact: true }).fill(vendor.password)
  await page.getByRole('button', { name: 'Sign In' }).click()
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByText('No applications yet')).toBeVisible()
})

test.describe('profile', () => {
  test('shows Unlimited and no upgrade on premium', { tag: '@full' }, async ({ page, request, keyward }) => {
    const vendor = await Vendor.signUp(request)
    makePremium(keyward, vendor)
    await enter(page, vendor, '/profile')
    for (const term of ['Max Apps', 'Max Licenses/App', 'Max Resellers']) {
      await expect(fact(page, term)).toHaveText('Unlimited')
    }
    await expect(figure(page, 'Payment Status')).toHaveText(/Unpaid.*No payment needed/)
    await expect(figure(page, 'Premium Access')).toContainText('Yes')
    await expect(page.getByRole('main').getByRole('link', { name: 'Upgrade Now' })).toBeHidden()
  })

  test('shows Unlimited for a limit without a value', { tag: '@full' }, async ({ page, request }) => {
    await page.route('**/api/auth/profile', async (route) => {
      const response = await route.fetch()
      const answer = await response.json()
      answer.data.user.maxApps = null
      delete answer.data.user.maxResellers
      await route.fulfill({ response, json: answer })
    })
    await enter(page, await Vendor.signUp(request), '/profile')
    await expect(fact(page, 'Max Apps')).toHaveText('Unlimited')
    await expect(fact(page, 'Max Licenses/App')).toHaveText('30')
    await expect(fact(page, 'Max Resellers')).toHaveText('Unlimited')
  })

  test('a new password requires the old one, ends the other sessions and works', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await enter(page, vendor, '/profile')
    await page.getByRole('button', { name: 'Change Password' }).click()
    const form = dialog(page, 'Change Password')
    const change = form.getByRole('button', { name: 'Change Password' })
    await form.getByLabel('Current Password').fill('not the password')
    await form.getByLabel('New Password', { exact: true }).fill('12345')
    await form.getByLabel('Confirm New Password').fill('123456')
    await change.click()
    await expect(form.getByText('Password must have at least 6 characters')).toBeVisible()
    await form.getByLabel('New Password', { exact: true }).fill('brand new password')
    await change.click()
    await expect(form.getByText('Passwords do not match')).toBeVisible()
    await form.getByLabel('Confirm New Password').fill('brand new password')
    await change.click()
    await expect(form.getByLabel('Current Password')).toHaveAttribute('aria-invalid', 'true')
    await form.getByLabel('Current Password').fill(vendor.password)
    await change.click()
    await expectToast(page, 'Password changed')
    await expect(form).toBeHidden()
    await expect(vendor.call('GET', '/auth/profile')).rejects.toThrow('401')
    await page.reload()
    await expect(heading(page, 'Profile')).toBeVisible()
    for (const [password, status] of [
      [vendor.password, 401],
      ['brand new password', 200],
    ] as const) {
      const answer = await request.post('/api/auth/login', { data: { email: vendor.email, password } })
      expect(answer.status()).toBe(status)
    }
  })

  test('a new email requires the password and works for sign-in', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const other = await Vendor.signUp(request)
    await enter(page, vendor, '/profile')
    await page.getByRole('button', { name: 'Update Email' }).click()
    const form = dialog(page, 'Update Email')
    const update = form.getByRole('button', { name: 'Update Email' })
    await form.getByLabel('New Email').fill(other.email)
    await form.getByLabel('Password', { exact: true }).fill('not the password')
    await update.click()
    await expect(form.getByLabel('Password', { exact: true })).toHaveAttribute('aria-invalid', 'true')
    await form.getByLabel('Password', { exact: true }).fill(vendor.password)
    await update.click()
    await expect(page.getByText(/already exists/)).toBeVisible()
    await form.getByLabel('New Email').fill(`new-${vendor.email}`)
    await update.click()
    await expectToast(page, 'Email updated')
    await expect(page.getByRole('main').getByText(`new-${vendor.email}`)).toBeVisible()
    const data = { email: `new-${vendor.email}`, password: vendor.password }
    expect((await request.post('/api/auth/login', { data })).status()).toBe(200)
  })
})

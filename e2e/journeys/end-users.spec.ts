import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  figure,
  heading,
  inDays,
  keyPrefix,
  openFilters,
  Program,
  row,
  rowAction,
  rows,
  shownDate,
  Vendor,
} from '../steps.ts'

/** Holds the search of a list back until `search()`, as a busy browser does. */
const holdSearch = (page: Page) =>
  page.addInitScript(`
    const [start, delayMs] = [setTimeout, 300]
    setTimeout = (run, timeMs) => (timeMs === delayMs ? ((search = run), 0) : start(run, timeMs))
  `)

type Clickable = { click(): void }
type Held = { search(): void }

const isoDay = (date: Date) => date.toISOString().slice(0, 10)

/** A vendor with an app and an end user, erik, who registered with a license on a device. */
async function withErik(request: Parameters<typeof Vendor.signUp>[0]) {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 1, 20)
  const program = await Program.start(request, app)
  await program.register('erik', license!, 'first device')
  return { vendor, app, license: license!, program }
}

test.describe('create', () => {
  test('is disabled until every rule is met', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp('One')
    const two = await vendor.createApp('Two')
    await enter(page, vendor, '/users')
    await test.step('links to the licenses and the API docs when empty', async () => {
      await expect(page.getByRole('link', { name: 'API docs' })).toHaveAttribute('href', '/docs')
      await page.getByRole('link', { name: 'Generate Licenses' }).click()
      await expect(heading(page, 'Licenses')).toBeVisible()
      await page.goBack()
    })
    await page.getByRole('button', { name: 'Create End User' }).click()
    const form = dialog(page, 'Create End User')
    const create = form.getByRole('button', { name: 'Create User' })
    const username = form.getByLabel('Username')
    const password = form.getByLabel('Password', { exact: true })
    const expiry = form.getByLabel('Expiry Date')
    await expect(create).toBeDisabled()
    await username.fill('anna')
    await password.fill('secret-7')
    await choose(form, 'Application', 'Two')
    await expect(create).toBeDisabled()
    await expiry.fill(isoDay(inDays(10)))
    await expect(create).toBeEnabled()

    await username.fill('an')
    await expect(create).toBeDisabled()
    await username.fill('anna')
    await password.fill('12345')
    await expect(create).toBeDisabled()
    await password.fill('secret-7')
    for (const past of [isoDay(inDays(-1)), '1899-12-31']) {
      await expiry.fill(past)
      await expect(create).toBeDisabled()
    }
    await expiry.fill(isoDay(inDays(10)))
    const asked = page.waitForRequest('**/api/clients/create-direct')
    await create.click()
    expect((await asked).postDataJSON()).toMatchObject({ hwid: null })
    await expectToast(page, 'User Created')
    await expect(form).toBeHidden()
    for (const text of ['anna', 'Active', 'Two', shownDate(inDays(0)), shownDate(inDays(10))]) {
      await expect(row(page, 'anna')).toContainText(text)
    }
    const { clients } = await vendor.call('GET', '/clients')
    expect(clients[0].hwid).toBeNull()
    expect(clients[0].expiresAt).toBe(`${isoDay(inDays(10))}T23:59:59.999Z`)
    const program = await Program.start(request, two)
    const data = { username: 'anna', password: 'secret-7', hwid: 'a device' }
    expect(await program.call('POST', '/login', data)).toMatchObject({ body: { success: true } })
  })

  test('reports a taken username, and keeps the input', { tag: '@full' }, async ({ page, request }) => {
    const { vendor } = await withErik(request)
    await enter(page, vendor, '/users')
    await page.getByRole('button', { name: 'Create End User' }).click()
    const form = dialog(page, 'Create End User')
    await form.getByLabel('Username').fill('ERIK')
    await form.getByLabel('Password', { exact: true }).fill('secret-7')
    await form.getByLabel('Expiry Date').fill(isoDay(inDays(10)))
    await form.getByRole('button', { name: 'Create User' }).click()
    await expectToast(page, 'Creation Failed')
    await expect(form.getByLabel('Username')).toHaveValue('ERIK')
    await expect(form.getByLabel('Username')).toHaveAttribute('aria-invalid', 'true')
  })
})

test.describe('an end user', () => {
  test('shows username, expiry and license key', { tag: '@phone' }, async ({ page, request }) => {
    const { vendor, license } = await withErik(request)
    await enter(page, vendor, '/users')
    await expect(
      page.getByText('Manage end users who have registered using your license keys.', { exact: true }),
    ).toBeVisible()
    for (const text of ['erik', 'Active', 'Tally', keyPrefix(license.key), shownDate(license.expiresAt)]) {
      await expect(row(page, 'erik')).toContainText(text)
    }
    await expect(row(page, 'erik').getByText('e', { exact: true })).toHaveCSS('text-transform', 'uppercase')
    await expect(row(page, 'erik')).toContainText(shownDate(inDays(0)))
    await expect(figure(page, 'Total')).toContainText('Total1')
    await expect(figure(page, 'Active')).toContainText('Active1100% of total')
    await expect(figure(page, 'Banned')).toContainText('Banned0')
    await expect(figure(page, 'Expired')).toContainText('Expired0')
    await page.getByText('How registration works').click()
    for (const text of [
      'A username',
      'A password',
      'A valid license key',
      'must not be expired or already used',
    ]) {
      await expect(page.getByRole('main')).toContainText(text)
    }
  })

  test('is banned and unbanned after a confirmation each', { tag: '@full' }, async ({ page, request }) => {
    const { vendor, program } = await withErik(request)
    await enter(page, vendor, '/users')
    await rowAction(page, 'erik', 'Ban')
    await dialog(page, 'Ban erik?').getByRole('button', { name: 'Cancel' }).click()
    await expect(row(page, 'erik')).toContainText('Active')
    await rowAction(page, 'erik', 'Ban')
    await dialog(page, 'Ban erik?').getByRole('button', { name: 'Ban User' }).click()
    await expectToast(page, 'User Banned')
    await expect(row(page, 'erik')).toContainText('Banned')
    await expect(figure(page, 'Banned')).toContainText('Banned1')
    expect(await program.call('GET', '/session')).toMatchObject({
      status: 403,
      body: { code: 'userBanned', message: 'User account is banned' },
    })
    await row(page, 'erik').getByRole('button', { name: 'Actions for erik' }).click()
    await expect(page.getByRole('menuitem').first()).toHaveText('Unban')
    await page.getByRole('menuitem').first().click()
    await dialog(page, 'Unban erik?').getByRole('button', { name: 'Unban User' }).click()
    const unbanned = page.locator('[data-sonner-toast]').filter({ hasText: 'User Unbanned' })
    await unbanned.getByRole('button', { name: 'Undo' }).click()
    await expectToast(page, 'Undone', '1 end user restored.')
    await expect(row(page, 'erik')).toContainText('Banned')
    await rowAction(page, 'erik', 'Unban')
    await dialog(page, 'Unban erik?').getByRole('button', { name: 'Unban User' }).click()
    await expect(row(page, 'erik')).toContainText('Active')
    expect(await program.login('erik', 'first device')).toMatchObject({ body: { success: true } })
  })

  test('can sign in from a different device after Reset HWID', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const { vendor, program } = await withErik(request)
    expect(await program.login('erik', 'second device')).toMatchObject({ body: { code: 'hwidMismatch' } })
    await enter(page, vendor, '/users')
    await rowAction(page, 'erik', 'Reset HWID')
    const question = dialog(page, 'Reset HWID of erik?')
    await expect(question).toContainText('allows login from a different device')
    await expect(question).toContainText('An open session can run on until another device takes its place.')
    await question.getByRole('button', { name: 'Reset HWID' }).click()
    await expectToast(page, 'HWID Reset')
    await expect(row(page, 'erik')).toContainText('No device bound')
    expect(await program.call('GET', '/session')).toMatchObject({ status: 200 })
    const again = await Program.start(request, (await vendor.call('GET', '/apps')).apps[0])
    expect(await again.login('erik', 'second device')).toMatchObject({ body: { success: true } })
    expect(await program.call('GET', '/session')).toMatchObject({ body: { code: 'hwidMismatch' } })
    expect(await again.login('erik', 'first device')).toMatchObject({ body: { code: 'hwidMismatch' } })
  })

  test('is extended from its current expiry, together with its license', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const { vendor } = await withErik(request)
    await enter(page, vendor, '/users')
    await rowAction(page, 'erik', 'Extend Subscription')
    const form = dialog(page, 'Extend erik')
    await form.getByText('Other', { exact: true }).click()
    await form.getByLabel('Extend By').fill('0')
    await form.getByRole('button', { name: 'Extend' }).click()
    await expect(form.getByLabel('Extend By')).toHaveAttribute('aria-invalid', 'true')
    await form.getByLabel('Extend By').fill('10')
    await expect(form).toContainText(shownDate(inDays(30)))
    await form.getByRole('button', { name: 'Extend' }).click()
    const extended = page.locator('[data-sonner-toast]').filter({ hasText: 'Subscription Extended' })
    await expect(extended).toContainText('erik has 10 more days.')
    await expect(row(page, 'erik')).toContainText(shownDate(inDays(30)))
    const { licenses } = await vendor.call('GET', '/licenses')
    expect(shownDate(licenses[0].expiresAt)).toBe(shownDate(inDays(30)))
    await extended.getByRole('button', { name: 'Undo' }).click()
    await expectToast(page, 'Undone', '1 end user restored.')
    await expect(row(page, 'erik')).toContainText(shownDate(inDays(20)))
  })

  test('is deleted after a confirmation, which frees the license', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const { vendor } = await withErik(request)
    await enter(page, vendor, '/users')
    await rowAction(page, 'erik', 'Delete')
    const question = dialog(page, 'Delete erik?')
    await expect(question).toContainText('cannot be undone')
    await question.getByRole('button', { name: 'Delete User' }).click()
    await expectToast(page, 'User Deleted')
    await expect(page.getByText('No end users yet')).toBeVisible()
    expect(await vendor.call('GET', '/licenses')).toMatchObject({ licenses: [{ status: 'unused' }] })
  })

  test('stays unchanged when the server rejects the change, with an error', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const { vendor } = await withErik(request)
    await enter(page, vendor, '/users')
    await page.route('**/api/clients/*/**', (route) =>
      route.fulfill({ status: 500, json: { success: false, message: 'The cellar is flooded' } }),
    )
    await rowAction(page, 'erik', 'Ban')
    await page.getByRole('button', { name: 'Ban User' }).click()
    await expectToast(page, 'Ban Failed', 'The cellar is flooded')
    await page.keyboard.press('Escape')
    await rowAction(page, 'erik', 'Reset HWID')
    await page.getByRole('button', { name: 'Reset HWID' }).click()
    await expectToast(page, 'Reset Failed', 'The cellar is flooded')
    await page.keyboard.press('Escape')
    await expect(row(page, 'erik')).toContainText('Active')
  })
})

test.describe('the list', () => {
  test('is searched and filtered, and keeps both in the URL across a reload', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const [one, two] = [await vendor.createApp('One'), await vendor.createApp('Two')]
    const banned = await vendor.createEndUser(one, 'anna')
    await vendor.createEndUser(one, 'hannah')
    await vendor.createEndUser(two, 'otto')
    await vendor.call('PATCH', `/clients/${banned._id}/toggle-ban`, { is_banned: true })
    await enter(page, vendor, '/users')
    await expect(rows(page)).toHaveCount(3)
    await openFilters(page)
    await page.getByRole('searchbox').fill('ann')
    await expect(rows(page)).toHaveCount(2)
    await choose(page, 'Status', 'Banned')
    await expect(rows(page)).toHaveCount(1)
    await expect(rows(page)).toContainText('anna')
    await page.reload()
    await expect(rows(page)).toHaveCount(1)
    await openFilters(page)
    await expect(page.getByRole('searchbox')).toHaveValue('ann')
    await expect(page.getByRole('combobox', { name: 'Status' })).toHaveText('Banned')
    await choose(page, 'App', 'Two')
    await expect(page.getByText('No end users found')).toBeVisible()
    await page.getByRole('button', { name: 'Clear Filters' }).click()
    await expect(rows(page)).toHaveCount(3)
  })

  for (const first of ['the click', 'the search'] as const) {
    test(`keeps a click and a search that change the URL at the same time, ${first} first`, {
      tag: '@full',
    }, async ({ page, request }) => {
      const { vendor } = await withErik(request)
      await holdSearch(page)
      await enter(page, vendor, '/users')
      await page.getByRole('searchbox').fill('erik')
      await row(page, 'erik').getByRole('button', { name: 'Actions for erik' }).click()
      const item = page.getByRole('menuitem', { name: 'Reset HWID' })
      await item.evaluate((item: Clickable, first) => {
        const steps = [() => item.click(), () => (globalThis as unknown as Held).search()]
        if (first === 'the search') steps.reverse()
        for (const step of steps) step()
      }, first)
      await expect(page.getByRole('alertdialog')).toContainText('Reset HWID of erik?')
      await expect(page).toHaveURL(/search=erik/)
    })
  }

  test('stays left when its search starts after the click on a link', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const { vendor } = await withErik(request)
    await holdSearch(page)
    await enter(page, vendor, '/users')
    await page.getByRole('searchbox').fill('erik')
    const link = page.getByRole('link', { name: 'Licenses', exact: true })
    await link.evaluate((link: Clickable) => {
      link.click()
      ;(globalThis as unknown as Held).search()
    })
    await expect(heading(page, 'Licenses')).toBeVisible()
    await expect(page).toHaveURL('/licenses')
  })

  test('offers to create the first app', { tag: '@full' }, async ({ page, request }) => {
    await enter(page, await Vendor.signUp(request), '/users')
    await page.getByRole('main').getByRole('link', { name: 'Create Your First App' }).click()
    await expect(heading(page, /^Welcome/)).toBeVisible()
  })
})

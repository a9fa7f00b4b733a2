import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from '@playwright/test'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { Tally } from '../program.ts'
import {
  dialog,
  enter,
  expectToast,
  figure,
  heading,
  inDays,
  makePremium,
  navigate,
  Program,
  readClipboard,
  row,
  rowAction,
  shownDate,
  Vendor,
} from '../steps.ts'

const addApp = (page: Page) => page.getByRole('button', { name: 'Add App' })

test.describe('dashboard', () => {
  test('offers two ways to create the first app', { tag: '@phone' }, async ({ page, request }) => {
    await enter(page, await Vendor.signUp(request, 'Dora Dash'))
    const main = page.getByRole('main')
    await expect(main.getByRole('heading', { level: 1 })).toHaveText(/Dora Dash/)
    await expect(main.getByText('No applications yet')).toBeVisible()
    await expect(main.getByText('No Application Created')).toBeVisible()
    await expect(main.getByRole('link', { name: 'Learn More' })).toHaveAttribute('href', '/docs')
    await expect(main.getByText('0 of 2 apps', { exact: true })).toBeVisible()
    const first = main.getByRole('button', { name: 'Create Your First App' })
    await expect(first).toHaveCount(2)
    for (const button of [first.nth(0), first.nth(1), addApp(page)]) {
      await button.click()
      await expect(dialog(page, 'Add New App')).toBeVisible()
      await page.keyboard.press('Escape')
      await expect(dialog(page, 'Add New App')).toBeHidden()
    }
  })

  test('shows a newcomer one primary action, and greets a returning vendor as one', async ({
    page,
    request,
    keyward,
  }) => {
    const vendor = await Vendor.signUp(request, 'Dora Dash')
    await enter(page, vendor)
    await expect(heading(page, 'Welcome, Dora Dash')).toBeVisible()
    await expect(page.getByText('0 of 4 steps done')).toBeVisible()
    await expect(page.locator('main .bg-accent:is(button, a)')).toHaveText(['Create Your First App'])
    const database = new DatabaseSync(join(keyward.dataDir, 'keyward.db'), { timeout: 5000 })
    const created = Date.now() - 2 * 86_400_000
    database.prepare('update owners set created_at = ? where email = ?').run(created, vendor.email)
    database.close()
    await page.reload()
    await expect(heading(page, 'Welcome back, Dora Dash')).toBeVisible()
  })

  test('shows the free plan with its usage, and an upgrade to premium', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp('One')
    await enter(page, vendor)
    const main = page.getByRole('main')
    await expect(main.getByText('Upgrade to Premium', { exact: true })).toBeVisible()
    await expect(
      main.getByText('Unlock unlimited apps and licenses. Currently using 1 of 2 apps.', { exact: true }),
    ).toBeVisible()
    await expect(main.getByRole('link', { name: 'Upgrade Now' })).toHaveAttribute('href', '/subscription')
    await expect(figure(page, 'Total Apps')).toContainText('1of 2')
    await expect(figure(page, 'Plan')).toContainText('FreeLimited')
    await expect(addApp(page)).toBeEnabled()
    await expect(main.getByRole('heading', { name: 'Applications' })).toBeVisible()
    await expect(main.getByText('1 of 2 apps', { exact: true })).toBeVisible()
  })

  test("rejects a new app at the plan's limit, by button and by URL", async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp('One')
    await vendor.createApp('Two')
    await enter(page, vendor, '/dashboard?dialog=new-app')
    await expect(page.getByText('2 of 2 apps', { exact: true })).toBeVisible()
    await expect(addApp(page)).toBeDisabled()
    await expect(page.getByText('Currently using 2 of 2 apps.')).toBeVisible()
    await expect(dialog(page, 'Add New App')).toBeHidden()
  })

  test('shows no limit and no banner on premium', async ({ page, request, keyward }) => {
    const vendor = await Vendor.signUp(request)
    makePremium(keyward, vendor)
    for (const name of ['One', 'Two', 'Three']) await vendor.createApp(name)
    await enter(page, vendor)
    await expect(figure(page, 'Total Apps')).toContainText('3of ∞')
    await expect(figure(page, 'Plan')).toContainText('PremiumUnlimited')
    await expect(addApp(page)).toBeEnabled()
    await expect(page.getByText('Upgrade to Premium')).toBeHidden()
  })

  test('shows real counts', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [deleted] = await vendor.createLicenses(app, 4, 60)
    await vendor.call('DELETE', `/licenses/${deleted!._id}`)
    const [used] = await vendor.createLicenses(app, 1, 3)
    await (await Program.start(request, app)).register('erik', used!)
    await enter(page, vendor)
    for (const [name, value, note] of [
      ['Total Licenses', '4', '5 created in 30 days'],
      ['Active Licenses', '1', '1 activated in 30 days'],
      ['Resellers', '0', '0 added in 30 days'],
      ['End Users', '1', '1 new in 30 days'],
      ['Expiring Soon', '1', 'in the next 7 days'],
    ] as const) {
      await expect(figure(page, name)).toContainText(`${name}${value}${note}`)
    }
  })
})

test.describe('an app', () => {
  test('is created with only a name', { tag: '@phone' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await enter(page, vendor)
    await addApp(page).click()
    const form = dialog(page, 'Add New App')
    await form.getByLabel('App Name').fill('   ')
    await form.getByRole('button', { name: 'Create App' }).click()
    await expect(form.getByRole('alert')).toBeVisible()
    await form.getByLabel('App Name').fill('Blue Pencil')
    await form.getByRole('button', { name: 'Create App' }).click()
    await expectToast(page, 'App created successfully')
    await dialog(page, 'Blue Pencil is ready').getByRole('button', { name: 'Done' }).click()
    const { apps } = await vendor.call('GET', '/apps')
    const line = row(page, 'Blue Pencil')
    for (const text of ['v1.0.0', apps[0].appId, shownDate(inDays(0))]) await expect(line).toContainText(text)
    await expect(line).not.toContainText('Paused')
    await expect(page.getByText('1 of 2 apps', { exact: true })).toBeVisible()
  })

  test('shows why it cannot be created, and keeps the input', async ({ page, request }) => {
    await enter(page, await Vendor.signUp(request))
    await page.route('**/api/apps', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 502, body: '' }) : route.continue(),
    )
    await addApp(page).click()
    const form = dialog(page, 'Add New App')
    await form.getByLabel('App Name').fill('Blue Pencil')
    await form.getByRole('button', { name: 'Create App' }).click()
    await expectToast(page, 'HTTP error! status: 502')
    await expect(form.getByLabel('App Name')).toHaveValue('Blue Pencil')
  })

  test('accepts a new name, and only a version of three numbers', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'Edit App')
    const form = dialog(page, 'Edit App')
    await expect(form.getByLabel('App ID')).toHaveValue(app.appId)
    await expect(form.getByLabel('App ID')).not.toBeEditable()
    await form.getByLabel('App Name').fill(' ')
    await form.getByRole('button', { name: 'Save Changes' }).click()
    await expect(form.getByLabel('App Name')).toHaveAttribute('aria-invalid', 'true')
    await form.getByLabel('App Name').fill('Tally Two')
    for (const wrong of ['', '1', '1.0', '1.0.0.0', 'v1.0.0', '1.0.0-beta']) {
      await form.getByLabel('Version').fill(wrong)
      await form.getByRole('button', { name: 'Save Changes' }).click()
      await expect(
        form.getByText('Version must be in format x.y.z (e.g., 1.0.0)', { exact: true }),
      ).toBeVisible()
    }
    await form.getByLabel('Version').fill('2.10.3')
    await form.getByRole('button', { name: 'Save Changes' }).click()
    await expectToast(page, 'App updated successfully')
    await expect(row(page, 'Tally Two')).toContainText('v2.10.3')
  })

  test('is paused and resumed, and the list updates in place', { tag: '@phone' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'Pause App')
    await expectToast(page, 'App paused successfully')
    await expect(row(page, 'Tally')).toContainText('Paused')
    expect(await Program.init(request, app)).toMatchObject({ body: { code: 'pausedApp' } })
    await rowAction(page, 'Tally', 'Resume App')
    await expectToast(page, 'App resumed successfully')
    await expect(row(page, 'Tally')).not.toContainText('Paused')
  })

  test('is resumed if it was paused elsewhere after the list was loaded', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await page.route('**/api/events', (route) => route.abort())
    await enter(page, vendor)
    await expect(row(page, 'Tally')).toBeVisible()
    await vendor.call('PUT', `/apps/${app._id}`, { paused: true })
    await rowAction(page, 'Tally', 'Pause App')
    await expectToast(page, 'App resumed successfully')
    expect(await vendor.call('GET', `/apps/${app._id}`)).toMatchObject({ app: { paused: false } })
  })

  test('copies its id, secret and version', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'Copy Details')
    await expectToast(page, 'App details copied to clipboard')
    const text = await readClipboard(page)
    for (const fact of [app.appId, app.appSecret, '1.0.0']) expect(text).toContain(fact)
    await page.getByRole('button', { name: 'Copy app ID of Tally' }).click()
    await expectToast(page, 'Copied to clipboard')
    expect(await readClipboard(page)).toBe(app.appId)
  })

  test('shows the integration snippet, and its secret only on request', { tag: '@phone' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp(`O'Brien \\ Sons`)
    await enter(page, vendor)
    await rowAction(page, app.name, 'Integration')
    const view = dialog(page, /Integrate/)
    const hidden = view.locator('code').filter({ hasText: '••••' })
    await expect(hidden).toBeVisible()
    await view.getByRole('button', { name: 'Show App secret' }).click()
    await expect(hidden).toBeHidden()
    await expect(view.getByText(app.appSecret, { exact: true })).toBeVisible()
    await expect(view.getByRole('link', { name: 'API docs' })).toHaveAttribute('href', '/docs')
  })

  test('shows the integration in the language that was chosen last', { tag: '@phone' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await enter(page, vendor)
    await rowAction(page, app.name, 'Integration')
    const view = dialog(page, /Integrate/)
    const tabs = view.getByRole('tablist', { name: 'Language' }).getByRole('tab')
    await expect(tabs).toHaveText(['TypeScript', 'Python', 'C++', 'C#'])
    await expect(view.getByRole('tab', { name: 'TypeScript' })).toHaveAttribute('aria-selected', 'true')
    const files = { Python: 'license.py', 'C++': 'license.cpp', 'C#': 'License.cs' }
    await view.getByRole('tab', { name: 'TypeScript' }).focus()
    for (const [language, file] of Object.entries(files)) {
      await page.keyboard.press('ArrowRight')
      await expect(view.getByRole('tab', { name: language, exact: true })).toBeFocused()
      const code = view.getByRole('region', { name: file })
      await expect(code).toContainText(app.appId)
      await expect(code).toContainText(app.appSecret)
      await expect(view.getByRole('region', { name: 'Terminal' })).toContainText('/sdk/1.')
    }
    const scroll = 'document.documentElement.scrollWidth - window.innerWidth'
    expect(await page.evaluate(scroll)).toBeLessThanOrEqual(0)
    await page.reload()
    await expect(view.getByRole('tab', { name: 'C#' })).toHaveAttribute('aria-selected', 'true')
    await expect(view.getByRole('region', { name: 'License.cs' })).toBeVisible()
  })

  test('saves its settings', { tag: '@phone' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'App Settings')
    const view = dialog(page, 'App Settings')
    const lock = view.getByRole('switch', { name: 'HWID Lock' })
    const custom = view.getByRole('switch', { name: 'Allow Custom License Keys' })
    await expect(view.getByRole('tab')).toHaveText(['Settings', 'Error Messages'])
    await expect(lock).toBeChecked()
    await expect(custom).not.toBeChecked()
    await lock.click()
    await custom.click()
    await view.getByText('Offline and Sign-In', { exact: true }).click()
    await view.getByLabel('Hours Offline').fill('24')
    await view.getByLabel('Grace Hours').fill('12')
    await view.getByLabel('Days Signed In').fill('30')
    await expect(view.getByText('after at most 1.5 days')).toBeVisible()
    await view.getByRole('button', { name: 'Save Settings' }).click()
    await expectToast(page, 'App settings updated successfully')
    await page.reload()
    await rowAction(page, 'Tally', 'App Settings')
    await expect(lock).not.toBeChecked()
    await expect(custom).toBeChecked()
    await view.getByText('Offline and Sign-In', { exact: true }).click()
    await expect(view.getByLabel('Hours Offline')).toHaveValue('24')
    await expect(view.getByLabel('Days Signed In')).toHaveValue('30')
  })

  test('gets a new secret, which invalidates the old one', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'App Settings')
    await page.getByRole('button', { name: 'Rotate Secret' }).click()
    await dialog(page, /Rotate the app secret/)
      .getByRole('button', { name: 'Rotate Secret' })
      .click()
    await expectToast(page, 'App secret rotated')
    expect(await Program.init(request, app)).toMatchObject({ body: { code: 'appDisabled' } })
    await dialog(page, 'App Settings').getByRole('button', { name: 'Copy app secret' }).click()
    await expectToast(page, 'Copied to clipboard')
    const appSecret = await readClipboard(page)
    expect(await Program.init(request, { ...app, appSecret })).toMatchObject({ body: { success: true } })
  })

  test('sends its own error messages until they are reset to the defaults', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const program = await Program.start(request, app)
    const refused = async () => (await program.login('nobody')).body.message
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'App Settings')
    const view = dialog(page, 'App Settings')
    await view.getByRole('tab', { name: 'Error Messages' }).click()
    await expect(view.getByRole('textbox')).toHaveCount(19)
    await view.getByText('Trials, seats, updates and activation').click()
    await expect(view.getByRole('textbox')).toHaveCount(23)
    await expect(view.getByLabel('noSeats', { exact: true })).toHaveValue('All seats are in use')
    await view.getByRole('searchbox', { name: 'Search messages' }).fill('not found')
    await expect(view.getByRole('textbox')).toHaveCount(2)
    await view.getByRole('searchbox', { name: 'Search messages' }).fill('no such message')
    await expect(view.getByText('No message matches “no such message”.')).toBeVisible()
    await view.getByRole('button', { name: 'Clear search' }).click()
    const save = view.getByRole('button', { name: 'Save Messages' })
    await expect(save).toBeDisabled()
    const text = view.getByLabel('usernameNotFound', { exact: true })
    await expect(text).toHaveValue('Username not found')
    await text.fill('Who are you?')
    await expect(view.getByRole('region', { name: 'Preview' })).toContainText('TallyWho are you?')
    await save.click()
    await expectToast(page, 'Error messages updated successfully')
    expect(await refused()).toBe('Who are you?')

    await view.getByRole('button', { name: 'Reset to Defaults' }).click()
    await dialog(page, 'Reset the error messages?').getByRole('button', { name: 'Reset to Defaults' }).click()
    await expectToast(page, 'Error messages reset to defaults')
    await expect(text).toHaveValue('Username not found')
    expect(await refused()).toBe('Username not found')
  })

  test('sends its error messages in the language of the program', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const austrian = await Program.start(request, app, 'de-AT')
    const refused = async () => (await austrian.login('nobody')).body.message
    await vendor.call('PUT', `/apps/${app._id}/error-messages`, { keyUsed: 'Taken' })
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'App Settings')
    const view = dialog(page, 'App Settings')
    await view.getByRole('tab', { name: 'Error Messages' }).click()
    const language = view.getByRole('combobox', { name: 'Language' })
    const speak = async (search: string, name: RegExp) => {
      await language.click()
      await page.getByRole('combobox', { name: 'Search: Language' }).fill(search)
      await page.getByRole('option', { name }).click()
      await expect(language).toHaveText(name)
    }
    await expect(language).toHaveText('Default texts')
    await speak('german', /^German \(de\)/)
    const text = view.getByLabel('usernameNotFound', { exact: true })
    await expect(text).toHaveValue('')
    await expect(text).toHaveAttribute('placeholder', 'Username not found')
    await expect(view.getByLabel('keyUsed', { exact: true })).toHaveAttribute('placeholder', 'Taken')
    await text.fill('Diesen Benutzer gibt es nicht')
    await expect(language).toBeDisabled()
    const save = view.getByRole('button', { name: 'Save Messages' })
    await save.click()
    await expectToast(page, 'Error messages updated successfully')
    expect(await refused()).toBe('Diesen Benutzer gibt es nicht')

    await speak('de-at', /^Austrian German/)
    await expect(text).toHaveAttribute('placeholder', 'Diesen Benutzer gibt es nicht')
    await text.fill('Den kenn ich nicht')
    await save.click()
    await expectToast(page, 'Error messages updated successfully')
    expect(await refused()).toBe('Den kenn ich nicht')
    await text.fill('')
    await save.click()
    await expectToast(page, 'Error messages updated successfully')
    expect(await refused()).toBe('Diesen Benutzer gibt es nicht')

    await speak('german', /^German \(de\)/)
    await view.getByRole('button', { name: 'Remove German' }).click()
    await dialog(page, 'Remove the texts in German?').getByRole('button', { name: 'Remove Texts' }).click()
    await expectToast(page, 'Error messages reset to defaults')
    await expect(text).toHaveValue('')
    expect(await refused()).toBe('Username not found')
  })

  test('is deleted with everything that belongs to it, after its name was typed exactly', {
    tag: '@phone',
  }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp('Tally')
    const [license] = await vendor.createLicenses(app, 3)
    await (await Program.start(request, app)).register('erik', license!)
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'Delete App')
    const question = dialog(page, 'Delete Application')
    const counts = question.locator('dl > div')
    for (const [label, value] of [
      ['Resellers', '0'],
      ['Licenses', '3'],
      ['End Users', '1'],
    ] as const) {
      await expect(counts.filter({ hasText: label }).locator('dd')).toHaveText(value)
    }
    const confirm = question.getByRole('button', { name: 'Delete', exact: true })
    for (const wrong of ['', 'tally', 'Tally ', 'Tall']) {
      await question.getByRole('textbox').fill(wrong)
      await expect(confirm).toBeDisabled()
    }
    await question.getByRole('textbox').fill('Tally')
    await confirm.click()
    await expectToast(
      page,
      'App and all associated data deleted successfully',
      'All resellers, licenses, and clients have been removed.',
    )
    await expect(page.getByText('No applications yet')).toBeVisible()
    expect(await vendor.call('GET', '/licenses')).toMatchObject({ licenses: [] })
  })

  test('can be deleted while its counts are unknown, which are not shown as zero', async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await page.route('**/deletion-preview', (route) => route.fulfill({ status: 500, body: '' }))
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'Delete App')
    const question = dialog(page, 'Delete Application')
    await expect(question.getByText('The counts are unknown')).toBeVisible()
    await expect(question.locator('dl')).toBeHidden()
    await question.getByRole('textbox').fill('Tally')
    await expect(question.getByRole('button', { name: 'Delete', exact: true })).toBeEnabled()
  })

  test('adds its dialogs to the history: Back closes them, a reload keeps them', async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'Edit App')
    await expect(dialog(page, 'Edit App')).toBeVisible()
    await page.reload()
    await expect(dialog(page, 'Edit App')).toBeVisible()
    await page.goBack()
    await expect(dialog(page, 'Edit App')).toBeHidden()
    await expect(page).toHaveURL('/dashboard')
  })

  test('is created in a dialog that a link opens, but neither a reload nor Back reopens', async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await enter(page, vendor, '/dashboard?dialog=new-app')
    const form = dialog(page, 'Add New App')
    await expect(form).toBeVisible()
    await page.reload()
    await expect(page).toHaveURL('/dashboard')
    await expect(page.getByText('No applications yet')).toBeVisible()
    await expect(form).toBeHidden()

    await addApp(page).click()
    await form.getByLabel('App Name').fill('Tally')
    await form.getByRole('button', { name: 'Create App' }).click()
    await dialog(page, 'Tally is ready').getByRole('button', { name: 'Done' }).click()
    await expect(page).toHaveURL('/dashboard')
    await page.reload()
    await expect(row(page, 'Tally')).toBeVisible()
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await navigate(page, 'Licenses')
    await page.goBack()
    await expect(row(page, 'Tally')).toBeVisible()
    await expect(page.getByRole('dialog')).toHaveCount(0)
  })
})

test('the signing key of an app is rotated step by step, and no shipped program notices', async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 1, 20)
  const home = await mkdtemp(join(tmpdir(), 'keyward-rotation-'))
  const text = join(home, 'novel.md')
  await writeFile(text, 'a few words')
  /** A version of the program that pins the keys of this moment. */
  const build = async () => {
    const { keys } = await vendor.call('GET', `/client/apps/${app.appId}/keys`)
    const { appId, appSecret: secret } = app
    const built = { baseUrl: keyward.url, appId, secret, publicKeys: JSON.stringify(keys), home }
    return () => new Tally(built, 'pc-1', '--key', license!.key, text)
  }
  const shipped = await build()
  await shipped().expectEnd(0, 'novel.md')
  await enter(page, vendor, `/dashboard?dialog=integrate&id=${app._id}`)
  await dialog(page, /Integrate/)
    .getByRole('button', { name: 'Manage signing keys' })
    .click()
  const view = dialog(page, 'Signing keys of Tally')
  const keys = view.getByRole('list', { name: 'Signing keys' }).getByRole('listitem')
  await expect(keys).toHaveText([/^current/])
  await expectAccessible(page, 'signing keys')
  await view.getByRole('button', { name: 'Make the next key' }).click()
  await expect(keys).toHaveText([/^next/, /^current/])
  await expect(view.getByText('Ship a version of your program')).toBeVisible()
  await expect(view.getByRole('button', { name: 'Make the next key' })).toBeDisabled()
  const newVersion = await build()
  for (const program of [shipped, newVersion]) await program().expectEnd(0, 'novel.md')
  await view.getByRole('button', { name: 'Promote' }).click()
  await expect(keys).toHaveText([/^current/, /^retired/])
  for (const program of [shipped, newVersion]) await program().expectEnd(0, 'novel.md')
  await view.getByRole('button', { name: 'Revoke' }).click()
  const confirm = page.getByRole('alertdialog', { name: 'Revoke this key?' })
  await expect(confirm).toContainText('stops working until its user installs a newer version')
  await confirm.getByRole('button', { name: 'Revoke' }).click()
  await expect(keys).toHaveText([/^current/, /^revoked/])
  await newVersion().expectEnd(0, 'novel.md')
  await shipped().expectEnd(4, 'not from the license server')
  await rm(home, { recursive: true })
})

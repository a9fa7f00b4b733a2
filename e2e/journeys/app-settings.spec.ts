import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { Tally } from '../program.ts'
import {
  dialog,
  enter,
  expectToast,
  Program,
  part,
  readClipboard,
  rowAction,
  Vendor,
  visit,
} from '../steps.ts'

test.describe('the settings of an app', () => {
  test('an app that remembers no sign-in recommends it until it is set', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp('Tally')
    await vendor.call('PUT', `/apps/${app._id}`, { settings: { rememberDays: 0 } })
    await enter(page, vendor, `/apps/${app._id}`)
    const advice = page.getByText('recommended: 30')
    await expect(advice).toBeVisible()
    await page.getByRole('link', { name: 'Settings', exact: true }).last().click()
    await expect(page).toHaveURL(`/apps/${app._id}?tab=settings`)
    const settings = part(page, 'App Settings')
    await settings.getByText('Offline and Sign-In', { exact: true }).click()
    await expect(settings.getByText('Recommended: 30.')).toBeVisible()
    await settings.getByLabel('Days Signed In').fill('30')
    await settings.getByRole('button', { name: 'Save Settings' }).click()
    await expectToast(page, 'App settings updated successfully')
    await page.getByRole('tab', { name: 'Overview' }).click()
    await expect(advice).toBeHidden()
    expect((await vendor.call('GET', `/apps/${app._id}`)).app.settings.rememberDays).toBe(30)
  })

  test('shows the integration snippet, and its secret only on request', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp(`O'Brien \\ Sons`)
    await enter(page, vendor)
    await rowAction(page, app.name, 'Integration')
    const view = part(page, /Integrate/)
    const code = view.getByRole('region', { name: 'license.mjs' })
    await expect(code).toContainText("secret: '••••")
    await expect(view).not.toContainText(app.appSecret)
    await view.getByRole('button', { name: 'Copy license.mjs' }).click()
    expect(await readClipboard(page)).toContain(`secret: '${app.appSecret}'`)
    // A selection that is copied contains the secret as well.
    await page.evaluate(`navigator.clipboard.writeText('')`)
    await page.evaluate(
      `getSelection().selectAllChildren(document.querySelector('[aria-label="license.mjs"]'))`,
    )
    await page.keyboard.press('Control+c')
    expect(await readClipboard(page)).toContain(`secret: '${app.appSecret}'`)
    await view.getByRole('button', { name: 'Show App secret' }).click()
    await expect(view.getByText('••••')).toHaveCount(0)
    await expect(view.getByText(app.appSecret, { exact: true })).toBeVisible()
    await expect(code).toContainText(`secret: '${app.appSecret}'`)
    await expect(view.getByRole('link', { name: 'API docs' })).toHaveAttribute('href', '/docs')

    await test.step('sends its own error messages until they are reset to the defaults', async () => {
      const program = await Program.start(request, app)
      const refused = async () => (await program.login('nobody')).body.message
      await visit(page, '/dashboard')
      await rowAction(page, app.name, 'Error Messages')
      const messages = part(page, 'Error Messages')
      await expect(messages.getByRole('textbox')).toHaveCount(19)
      await messages.getByText('Trials, seats, updates and activation').click()
      await expect(messages.getByRole('textbox')).toHaveCount(24)
      await expect(messages.getByLabel('noSeats', { exact: true })).toHaveValue('All seats are in use')
      await messages.getByRole('searchbox', { name: 'Search messages' }).fill('not found')
      await expect(messages.getByRole('textbox')).toHaveCount(2)
      await messages.getByRole('searchbox', { name: 'Search messages' }).fill('no such message')
      await expect(messages.getByText('No message matches “no such message”.')).toBeVisible()
      await messages.getByRole('button', { name: 'Clear Search' }).click()
      const save = messages.getByRole('button', { name: 'Save Messages' })
      await expect(save).toBeDisabled()
      const text = messages.getByLabel('usernameNotFound', { exact: true })
      await expect(text).toHaveValue('Username not found')
      await text.fill('Who are you?')
      await expect(messages.getByRole('region', { name: 'Preview' })).toContainText(`${app.name}Who are you?`)
      await save.click()
      await expectToast(page, 'Error messages updated successfully')
      expect(await refused()).toBe('Who are you?')

      await messages.getByRole('button', { name: 'Reset to Defaults' }).click()
      await dialog(page, 'Reset the error messages?')
        .getByRole('button', { name: 'Reset to Defaults' })
        .click()
      await expectToast(page, 'Error messages reset to defaults')
      await expect(text).toHaveValue('Username not found')
      expect(await refused()).toBe('Username not found')
    })
  })

  test('shows the integration in the language that was chosen last', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await enter(page, vendor)
    await rowAction(page, app.name, 'Integration')
    const view = part(page, /Integrate/)
    const tabs = view.getByRole('tablist', { name: 'Language' }).getByRole('tab')
    await expect(tabs).toHaveText(['JavaScript', 'Python', 'C++', 'C#'])
    await expect(view.getByRole('tab', { name: 'JavaScript' })).toHaveAttribute('aria-selected', 'true')
    const files = { Python: 'license.py', 'C++': 'license.cpp', 'C#': 'License.cs' }
    await view.getByRole('button', { name: 'Show App secret' }).click()
    await view.getByRole('tab', { name: 'JavaScript' }).focus()
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

  test('saves its settings', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'App Settings')
    const view = part(page, 'App Settings')
    const lock = view.getByRole('switch', { name: 'HWID Lock' })
    const custom = view.getByRole('switch', { name: 'Allow Custom License Keys' })
    await expect(lock).toBeChecked()
    await expect(custom).not.toBeChecked()
    await lock.click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expectToast(page, 'Undone')
    await expect(lock).toBeChecked()
    await lock.click()
    await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible()
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/api/apps/*', (route) => held.then(() => route.continue()))
    await lock.click()
    await page.getByRole('button', { name: 'Undo' }).click()
    answer()
    await expectToast(page, 'Undone')
    await page.unrouteAll({ behavior: 'wait' })
    await expectToast(page, 'App settings updated successfully')
    await expect(lock).toBeChecked()
    await lock.dblclick()
    await expectToast(page, 'App settings updated successfully')
    await expect(lock).not.toBeChecked()
    await custom.click()
    await expectToast(page, 'App settings updated successfully')
    await view.getByText('Versions and Updates', { exact: true }).click()
    await view.getByLabel('Oldest Version').fill('1.5')
    await expect(view.getByText('Enter three numbers, such as 1.2.0')).toBeVisible()
    await view.getByLabel('Oldest Version').fill('1.5.0')
    await expect(view.getByText('Refuses 0 bound devices with an older version.')).toBeVisible()
    await view.getByText('Offline and Sign-In', { exact: true }).click()
    await view.getByLabel('Hours Offline').fill('24')
    await view.getByLabel('Grace Hours').fill('12')
    await view.getByLabel('Days Signed In').fill('30')
    await expect(view.getByText('after at most 1.5 days')).toBeVisible()
    await view.getByRole('button', { name: 'Save Settings' }).click()
    await expectToast(page, 'App settings updated successfully')
    await page.reload()
    await expect(lock).not.toBeChecked()
    await expect(custom).toBeChecked()
    await view.getByText('Versions and Updates', { exact: true }).click()
    await expect(view.getByLabel('Oldest Version')).toHaveValue('1.5.0')
    await view.getByText('Offline and Sign-In', { exact: true }).click()
    await expect(view.getByLabel('Hours Offline')).toHaveValue('24')
    await expect(view.getByLabel('Days Signed In')).toHaveValue('30')
  })

  test('gets a new secret, which invalidates the old one', { tag: '@full' }, async ({ page, request }) => {
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
    await part(page, 'App Settings').getByRole('button', { name: 'Copy app secret' }).click()
    await expectToast(page, 'Copied to clipboard')
    const appSecret = await readClipboard(page)
    expect(await Program.init(request, { ...app, appSecret })).toMatchObject({ body: { success: true } })
  })

  test('sends its error messages in the language of the program', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const austrian = await Program.start(request, app, 'de-AT')
    const refused = async () => (await austrian.login('nobody')).body.message
    await vendor.call('PUT', `/apps/${app._id}/error-messages`, { keyUsed: 'Taken' })
    await enter(page, vendor)
    await rowAction(page, 'Tally', 'Error Messages')
    const view = part(page, 'Error Messages')
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
})

test('the signing key of an app is rotated step by step, and no shipped program notices', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
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
  await expect(page).toHaveURL(`/apps/${app._id}?tab=integration`)
  await part(page, /Integrate/)
    .getByRole('link', { name: 'Manage signing keys' })
    .click()
  await expect(page).toHaveURL(`/apps/${app._id}?tab=settings`)
  const view = part(page, 'Signing keys of Tally')
  const keys = view.getByRole('list', { name: 'Signing keys' }).getByRole('listitem')
  await expect(keys).toHaveText([/^current/])
  await expectAccessible(page, 'signing keys')
  await view.getByRole('button', { name: 'Make the Next Key' }).click()
  await expect(keys).toHaveText([/^next/, /^current/])
  await expect(view.getByText('Ship a version of your program')).toBeVisible()
  await expect(view.getByRole('button', { name: 'Make the Next Key' })).toBeDisabled()
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

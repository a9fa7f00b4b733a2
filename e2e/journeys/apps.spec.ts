import { expect, test } from '../keyward.ts'
import {
  addApp,
  dialog,
  enter,
  expectToast,
  inDays,
  navigate,
  Program,
  pauseApp,
  readClipboard,
  row,
  rowAction,
  shownDate,
  Vendor,
} from '../steps.ts'

test.describe('an app', () => {
  test('is created with only a name', async ({ page, request }) => {
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
    await expect(addApp(page)).toBeFocused()
    const { apps } = await vendor.call('GET', '/apps')
    const line = row(page, 'Blue Pencil')
    for (const text of ['v1.0.0', apps[0].appId, shownDate(inDays(0))]) await expect(line).toContainText(text)
    await expect(line).not.toContainText('Paused')
    await expect(page.getByText('1 of 2 apps', { exact: true })).toBeVisible()

    await test.step('copies its id, secret and version', async () => {
      await rowAction(page, 'Blue Pencil', 'Copy Details')
      await expectToast(page, 'App details copied to clipboard')
      const text = await readClipboard(page)
      for (const fact of [apps[0].appId, apps[0].appSecret, '1.0.0']) expect(text).toContain(fact)
      await page.getByRole('button', { name: 'Copy app ID of Blue Pencil' }).click()
      await expectToast(page, 'Copied to clipboard')
      expect(await readClipboard(page)).toBe(apps[0].appId)
    })

    await test.step('accepts a new name, and only a version of three numbers', async () => {
      await rowAction(page, 'Blue Pencil', 'Edit App')
      const form = dialog(page, 'Edit App')
      await expect(form.getByLabel('App ID')).toHaveValue(apps[0].appId)
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
  })

  test('shows why it cannot be created, and keeps the input', { tag: '@full' }, async ({ page, request }) => {
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

  test('is paused and resumed, and the list updates in place', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await enter(page, vendor)
    await pauseApp(page, 'Tally')
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
    const [license] = await vendor.createLicenses(app, 3)
    await (await Program.start(request, app)).register('erik', license!)
    await page.route('**/api/events', (route) => route.abort())
    await enter(page, vendor)
    await expect(row(page, 'Tally')).toBeVisible()
    await vendor.call('PUT', `/apps/${app._id}`, { paused: true })
    await rowAction(page, 'Tally', 'Pause App')
    await expectToast(page, 'App resumed successfully')
    expect(await vendor.call('GET', `/apps/${app._id}`)).toMatchObject({ app: { paused: false } })

    await test.step('is deleted with everything that belongs to it, after its name was typed exactly', async () => {
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
  })

  test('can be deleted while its counts are unknown, which are not shown as zero', { tag: '@full' }, async ({
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

  test('adds its dialogs to the history: Back closes them, a reload keeps them', { tag: '@full' }, async ({
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

  test('is created in a dialog that a link opens, but neither a reload nor Back reopens', {
    tag: '@full',
  }, async ({ page, request }) => {
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

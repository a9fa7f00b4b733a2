import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import {
  dialog,
  endSession,
  enter,
  expectToast,
  inDays,
  keyPrefix,
  part,
  row,
  rowAction,
  shownDate,
  signIn,
  tokenKey,
  Vendor,
  visit,
} from '../steps.ts'

const rejected = (noun: string, them = 'it') =>
  `Someone else changed ${noun} in the meantime. Nothing was saved. Open ${them} again to see the current values.`

const cancel = (page: Page, title: string) =>
  dialog(page, title).getByRole('button', { name: 'Cancel' }).click()

test('dialogs do not overwrite what another user changed while they were open', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const license = (await vendor.createLicenses(app))[0]!
  const reseller = await createReseller(vendor, app)
  const path = `/apps/${app._id}`
  const type = { name: 'Pro', term: 'first_use', duration: { value: 1, unit: 'years' } }
  const { licenseType } = await vendor.call('POST', `${path}/license-types`, type)

  await enter(page, vendor, '/licenses')
  const extend = dialog(page, 'Extend License')
  await rowAction(page, keyPrefix(license.key), 'Extend License')
  await expect(extend).toBeVisible()
  await vendor.call('PUT', `/licenses/${license._id}`, { expiresAt: '2040-05-06T12:00:00Z' })
  await expect(extend).toContainText('Someone changed the expiry while this dialog was open.')
  await expect(extend).toContainText('Jun 06, 2040')
  await extend.getByRole('button', { name: 'Extend License' }).click()
  await expectToast(page, 'License Updated', '1 license got 1 more month.')
  await expect(row(page, keyPrefix(license.key))).toContainText('Jun 06, 2040')

  await visit(page, `/resellers?dialog=edit&id=${reseller._id}`)
  const limit = dialog(page, 'Edit Reseller License Limit')
  await limit.getByLabel('License Limit').fill('70')
  await vendor.call('PUT', `/resellers/${reseller._id}`, { licenseLimit: 80 })
  await limit.getByRole('button', { name: 'Update Limit' }).click()
  await expectToast(page, rejected('this reseller'))
  await cancel(page, 'Edit Reseller License Limit')

  await visit(page, `/dashboard?dialog=edit-app&id=${app._id}`)
  const edit = dialog(page, 'Edit App')
  await edit.getByLabel('Version').fill('2.0.0')
  await vendor.call('PUT', path, { name: 'Renamed' })
  await edit.getByRole('button', { name: 'Save Changes' }).click()
  await expectToast(page, rejected('this app'))
  await cancel(page, 'Edit App')

  await visit(page, `/dashboard?dialog=app-settings&id=${app._id}`)
  const settings = part(page, 'App Settings')
  await settings.getByText('Offline and Sign-In', { exact: true }).click()
  await settings.getByLabel('Grace Hours').fill('7')
  await vendor.call('PUT', path, { settings: { leaseHours: 5 } })
  await settings.getByRole('button', { name: 'Save Settings' }).click()
  await expectToast(page, 'App settings updated successfully')

  await visit(page, `/dashboard?dialog=variables&id=${app._id}`)
  const variables = part(page, 'Variables of Renamed')
  await variables.getByRole('button', { name: 'Add Variable' }).click()
  await variables.getByLabel('Name').fill('mine')
  await vendor.call('PUT', `${path}/variables`, { variables: [{ name: 'theirs', value: '', public: false }] })
  await variables.getByRole('button', { name: 'Save Variables' }).click()
  await expect(page.getByRole('alert').getByText(rejected('these variables', 'them'))).toBeVisible()
  await expectToast(page, rejected('these variables', 'them'))
  await variables.getByRole('button', { name: 'Cancel' }).click()
  await expect(variables.getByLabel('Name')).toHaveValue('theirs')

  await visit(page, `/dashboard?dialog=app-settings&id=${app._id}&tab=messages`)
  const texts = part(page, 'Error Messages')
  await texts.getByLabel('keyUsed', { exact: true }).fill('Mine')
  await vendor.call('PUT', `${path}/error-messages`, { keyUsed: 'Theirs', keyBanned: 'Theirs too' })
  await texts.getByRole('button', { name: 'Save Messages' }).click()
  await expectToast(page, rejected('these texts', 'them'))
  await texts.getByRole('button', { name: 'Cancel' }).click()
  await expect(texts.getByLabel('keyUsed', { exact: true })).toHaveValue('Theirs')
  await texts.getByLabel('userBanned', { exact: true }).fill('Mine')
  await vendor.call('PUT', `${path}/error-messages`, { keyBanned: 'Theirs again' })
  await texts.getByRole('button', { name: 'Save Messages' }).click()
  await expectToast(page, 'Error messages updated successfully')
  expect((await vendor.call('GET', `${path}/error-messages`)).errorMessages).toMatchObject({
    keyUsed: 'Theirs',
    keyBanned: 'Theirs again',
    userBanned: 'Mine',
  })
  await visit(page, `/dashboard?dialog=license-types&id=${app._id}`)
  await page.getByRole('button', { name: 'Edit Pro' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Grace days').fill('3')
  await vendor.call('PUT', `/license-types/${licenseType._id}`, { features: ['theirs'] })
  await form.getByRole('button', { name: 'Save Type' }).click()
  await expectToast(page, rejected('this license type'))

  expect((await vendor.call('GET', path)).app).toMatchObject({
    name: 'Renamed',
    version: '1.0.0',
    settings: { graceHours: 7, leaseHours: 5 },
  })
  expect((await vendor.call('GET', '/resellers')).resellers).toMatchObject([{ allowed_license_keys: 80 }])
  expect((await vendor.call('GET', `${path}/variables`)).variables).toMatchObject([{ name: 'theirs' }])
  expect((await vendor.call('GET', `${path}/license-types`)).licenseTypes).toMatchObject([
    { features: ['theirs'], graceDays: 0 },
  ])
})

test('a rejected edit is explained until its dialog is closed', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const license = (await vendor.createLicenses(app))[0]!
  await page.clock.install()
  await enter(page, vendor, '/licenses')
  await rowAction(page, keyPrefix(license.key), 'Edit License')
  const edit = dialog(page, 'Edit License')
  await edit.getByLabel('Note').fill('mine')
  await vendor.call('PUT', `/licenses/${license._id}`, { note: 'theirs' })
  await edit.getByRole('button', { name: 'Save License' }).click()
  const toasts = page.locator('[data-sonner-toast]')
  await expect(toasts).toContainText(rejected('this license'))
  await page.clock.fastForward(60_000)
  await edit.getByRole('button', { name: 'Save License' }).click()
  await page.clock.fastForward(60_000)
  await expect(toasts).toHaveCount(1)
  await expect(toasts).toContainText(rejected('this license'))
  await expect(edit.getByLabel('Note')).toHaveValue('mine')
  await cancel(page, 'Edit License')
  await expect(toasts).toHaveCount(0)
})

test('saves an expiry again whose response was lost', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const license = (await vendor.createLicenses(app))[0]!
  await enter(page, vendor, '/licenses')
  await rowAction(page, keyPrefix(license.key), 'Edit Expiry')
  const update = dialog(page, 'Edit Expiry').getByRole('button', { name: 'Update Expiry' })
  await page.route('**/api/licenses/*', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await update.click()
  await expectToast(page, 'Update Failed')
  await page.unroute('**/api/licenses/*')
  await update.click()
  await expectToast(page, 'License Updated')
})

test('a dialog keeps what was typed when its row leaves the page', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const oldest = (await vendor.createLicenses(app))[0]!
  await vendor.createLicenses(app, 24)
  await enter(page, vendor, '/licenses')
  await rowAction(page, keyPrefix(oldest.key), 'Edit License')
  const details = dialog(page, 'Edit License')
  await details.getByLabel('Note').fill('typed for minutes')
  await vendor.createLicenses(app)
  await expect(page.locator('table')).not.toContainText(keyPrefix(oldest.key))
  await expect(details.getByLabel('Note')).toHaveValue('typed for minutes')
  await details.getByRole('button', { name: 'Save License' }).click()
  await expectToast(page, 'License Updated')
  await expect(details).toBeHidden()
  expect((await vendor.call('GET', `/licenses/${oldest._id}`)).license.note).toBe('typed for minutes')
})

test('a session that expires loses nothing of what was typed', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  await enter(page, vendor, `/dashboard?dialog=variables&id=${app._id}`)
  const variables = part(page, 'Variables of Tally')
  await variables.getByRole('button', { name: 'Add Variable' }).click()
  await variables.getByLabel('Name').fill('endpoint')
  await variables.getByLabel('Value').fill('typed for minutes')
  await vendor.call('POST', '/auth/logout')
  await expect(page).toHaveURL('/auth')
  await signIn(page, vendor)
  await expect(variables.getByLabel('Value')).toHaveValue('typed for minutes')
  await variables.getByRole('button', { name: 'Save Variables' }).click()
  await expectToast(page, 'Variables saved')

  await visit(page, `/dashboard?dialog=app-settings&id=${app._id}`)
  const settings = part(page, 'App Settings')
  await settings.getByText('Offline and Sign-In', { exact: true }).click()
  await settings.getByLabel('Grace Hours').fill('7')
  await endSession(page)
  await signIn(page, vendor)
  await settings.getByText('Offline and Sign-In', { exact: true }).click()
  await expect(settings.getByLabel('Grace Hours')).toHaveValue('7')
  await settings.getByRole('button', { name: 'Save Settings' }).click()
  await expectToast(page, 'App settings updated successfully')

  await visit(page, '/users?dialog=create')
  const create = dialog(page, 'Create End User')
  await create.getByLabel('Username').fill('erik')
  await create.getByLabel('Password', { exact: true }).fill('a-secret-of-erik')
  await endSession(page)
  const stranger = await Vendor.signUp(request)
  await stranger.createApp()
  await signIn(page, stranger)
  await expect(create.getByLabel('Username')).toHaveValue('')
  await expect(create.getByLabel('Password', { exact: true })).toHaveValue('')
})

test('a form is filled in again without passwords, in its language, and not after a logout', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const create = dialog(page, 'Create End User')
  await enter(page, vendor, '/users?dialog=create')
  await create.getByLabel('Username').fill('erik')
  await create.getByLabel('Password', { exact: true }).fill('a-secret-of-erik')
  await endSession(page)
  await signIn(page, vendor)
  await expect(create.getByLabel('Username')).toHaveValue('erik')
  await expect(create.getByLabel('Password', { exact: true })).toHaveValue('')

  await endSession(page)
  await visit(page, '/auth')
  await signIn(page, vendor)
  await page.getByRole('button', { name: 'Log Out' }).click()
  await signIn(page, vendor)
  await expect(page).toHaveURL('/dashboard')
  await visit(page, '/users?dialog=create')
  await expect(create.getByLabel('Username')).toHaveValue('')

  await visit(page, `/dashboard?dialog=app-settings&id=${app._id}&tab=messages`)
  const settings = part(page, 'Error Messages')
  const text = settings.getByLabel('usernameNotFound', { exact: true })
  const choose = async (language: string) => {
    await settings.getByRole('combobox', { name: 'Language' }).click()
    await page.getByRole('combobox', { name: 'Search: Language' }).fill(language)
    await page.getByRole('option', { name: new RegExp(`^${language} \\(..\\)`) }).click()
  }
  await choose('German')
  await text.fill('Unbekannt')
  await settings.getByRole('button', { name: 'Save Messages' }).click()
  await expectToast(page, 'Error messages updated successfully')
  await text.fill('Hallo')
  await endSession(page)
  await signIn(page, vendor)
  await choose('French')
  await expect(text).toHaveValue('')
  await choose('German')
  await expect(text).toHaveValue('Hallo')
})

test('a page shows nothing of an account after another tab signed in as another one', {
  tag: '@full',
}, async ({ page, context, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  const stranger = await Vendor.signUp(request)
  await stranger.createApp('Ledger')
  const create = dialog(page, 'Create End User')
  await enter(page, vendor, '/users?dialog=create')
  const tab = await context.newPage()
  await tab.goto('/about')
  await create.getByLabel('Username').fill('kept')
  await tab.evaluate(`localStorage.setItem('keyward-reseller-token', 'another')`)
  await page.setViewportSize({ width: 700, height: 800 })
  await page.setViewportSize({ width: 1280, height: 800 })
  await expect(create.getByLabel('Username')).toHaveValue('kept')
  for (const signedOutBefore of [false, true]) {
    await create.getByLabel('Username').fill('erik')
    if (signedOutBefore) {
      await tab.evaluate(`localStorage.removeItem('${tokenKey}')`)
      await expect(page).toHaveURL('/auth')
    }
    await tab.evaluate(`localStorage.setItem('${tokenKey}', '${stranger.token}')`)
    await expect(create.getByRole('combobox', { name: 'Application' })).toHaveText('Ledger')
    await expect(create.getByLabel('Username')).toHaveValue('')
    await tab.evaluate(`localStorage.setItem('${tokenKey}', '${vendor.token}')`)
    await expect(create.getByRole('combobox', { name: 'Application' })).toHaveText('Tally')
    await expect(create.getByLabel('Username')).toHaveValue('erik')
  }
})

test('neither Back nor an expired session takes away the password of a new reseller', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  await enter(page, vendor, '/resellers')
  await page.getByRole('button', { name: 'Create First Reseller' }).click()
  const form = dialog(page, 'Add New Reseller')
  await form.getByLabel('Email').fill('once@example.com')
  await form.getByLabel('Password', { exact: true }).fill('shown-only-once')
  await form.getByRole('button', { name: 'Create Reseller' }).click()
  const shown = dialog(page, 'Reseller Created')
  await expect(shown.getByText('shown-only-once')).toBeVisible()
  await endSession(page)
  await signIn(page, vendor)
  await expect(shown.getByText('shown-only-once')).toBeVisible()
  await page.goBack()
  await expect(page).toHaveURL('/resellers')
  await expect(shown.getByText('shown-only-once')).toBeVisible()
  await shown.getByRole('button', { name: 'Done' }).click()
  await expect(shown).toBeHidden()
  await page.getByRole('button', { name: 'Add Reseller' }).click()
  await expect(form.getByLabel('Email')).toHaveValue('')
})

test('ends count from the time of the server where the clock of the browser is wrong', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const license = (await vendor.createLicenses(app))[0]!
  await page.clock.install({ time: inDays(-400) })
  await enter(page, vendor, '/licenses')
  await rowAction(page, keyPrefix(license.key), 'Edit Expiry')
  const edit = dialog(page, 'Edit Expiry')
  await edit.getByLabel('Extend By').fill('50')
  await expect(edit).toContainText(shownDate(inDays(50)))
  await edit.getByRole('button', { name: 'Update Expiry' }).click()
  await expectToast(page, 'License Updated')
  await visit(page, '/licenses?dialog=generate')
  await dialog(page, 'Generate License').getByRole('button', { name: 'Generate License' }).click()
  await expect(dialog(page, 'Licenses Generated')).toBeVisible()
  const { licenses } = await vendor.call('GET', '/licenses')
  expect(licenses.map(({ expiresAt }: { expiresAt: string }) => shownDate(expiresAt))).toEqual([
    shownDate(inDays(30)),
    shownDate(inDays(50)),
  ])
})

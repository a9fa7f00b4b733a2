import type { Page } from '@playwright/test'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  inDays,
  keyPrefix,
  makePremium,
  Program,
  readClipboard,
  row,
  rowAction,
  rows,
  settle,
  shownDate,
  Vendor,
} from '../steps.ts'

const openGenerate = (page: Page) => page.getByRole('button', { name: 'Generate License' }).first().click()
const form = (page: Page) => dialog(page, 'Generate License')
const submit = (page: Page) => form(page).getByRole('button', { name: 'Generate License' }).click()

test.describe('generate', () => {
  test('defaults to one key for 30 days, and shows each new key with a copy button', async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor, '/licenses')
    await expect(page.getByText('No licenses found')).toBeVisible()
    await openGenerate(page)
    await expect(form(page).getByRole('combobox', { name: 'Application' })).toHaveText('Tally')
    await expect(form(page).getByLabel('Amount')).toHaveValue('1')
    await expect(form(page).getByRole('combobox', { name: 'Expiry Unit' })).toHaveText('Days')
    await expect(form(page).getByLabel('Duration')).toHaveValue('30')
    await expect(form(page)).toContainText(`Expires on ${shownDate(inDays(30))}`)
    await form(page).getByLabel('Amount').fill('3')
    await submit(page)
    await expectToast(page, 'Licenses Generated', 'Successfully generated 3 license(s).')
    const made = dialog(page, 'Licenses Generated')
    const keys = await made.getByRole('listitem').allInnerTexts()
    await made.getByRole('button', { name: 'Copy all license keys' }).click()
    await expectToast(page, 'License keys copied to clipboard')
    expect((await readClipboard(page)).split('\n')).toEqual(keys.map((key) => key.trim()))
    await made.getByRole('button', { name: 'Done' }).click()
    await expect(rows(page)).toHaveCount(3)
    await test.step('shows sixteen characters of the key, and copies the full key', async () => {
      const key = keys[0]!.trim()
      await expect(row(page, keyPrefix(key))).toBeVisible()
      await expect(page.getByText(key, { exact: true })).toBeHidden()
      await page.getByRole('button', { name: `Copy license key ${keyPrefix(key)}` }).click()
      await expectToast(page, 'License key copied to clipboard')
      expect(await readClipboard(page)).toBe(key)
      await page.evaluate(`navigator.clipboard.writeText('something else')`)
      await rowAction(page, keyPrefix(key), 'Copy Full License Key')
      await expectToast(page, 'License key copied to clipboard')
      expect(await readClipboard(page)).toBe(key)
    })
    await vendor.createApp('Other')
    for (const key of keys) {
      for (const text of ['Unused', 'Tally', shownDate(inDays(0)), shownDate(inDays(30))]) {
        await expect(row(page, keyPrefix(key.trim()))).toContainText(text)
      }
    }
  })

  test('reports missing fields', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp('One')
    await vendor.createApp('Two')
    await enter(page, vendor, '/licenses')
    await openGenerate(page)
    await submit(page)
    await expectToast(page, 'Missing fields', 'Please fill in all required fields.')
    await choose(form(page), 'Application', 'Two')
    for (const field of ['Amount', 'Duration']) {
      const value = await form(page).getByLabel(field).inputValue()
      await form(page).getByLabel(field).fill('')
      await submit(page)
      await expectToast(page, 'Missing fields', 'Please fill in all required fields.')
      await form(page).getByLabel(field).fill(value)
    }
    for (const [field, wrong] of [
      ['Amount', '0'],
      ['Amount', '101'],
      ['Duration', '0'],
    ] as const) {
      const value = await form(page).getByLabel(field).inputValue()
      await form(page).getByLabel(field).fill(wrong)
      await submit(page)
      await expect(form(page).getByLabel(field)).toHaveAttribute('aria-invalid', 'true')
      await form(page).getByLabel(field).fill(value)
    }
    await submit(page)
    await expectToast(page, 'Licenses Generated', 'Successfully generated 1 license(s).')
    expect(await vendor.call('GET', '/licenses')).toMatchObject({ licenses: [{ app: { name: 'Two' } }] })
  })

  test('supports hours and calendar months', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor, '/licenses')
    await openGenerate(page)
    await form(page).getByLabel('Duration').fill('12')
    await choose(form(page), 'Expiry Unit', 'Months')
    await submit(page)
    await expectToast(page, 'Licenses Generated')
    const { licenses } = await vendor.call('GET', '/licenses')
    const year = new Date()
    year.setUTCFullYear(year.getUTCFullYear() + 1)
    expect(shownDate(licenses[0].expiresAt)).toBe(shownDate(year))
    await dialog(page, 'Licenses Generated').getByRole('button', { name: 'Generate More' }).click()
    await form(page).getByLabel('Duration').fill('48')
    await choose(form(page), 'Expiry Unit', 'Hours')
    await expect(form(page)).toContainText(`Expires on ${shownDate(inDays(2))}`)
  })

  test('accepts a custom key if the app allows it', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const settings = { hwidLock: true, allowCustomLicenseKey: true }
    await vendor.call('PUT', `/apps/${app._id}`, { settings })
    await enter(page, vendor, '/licenses')
    await openGenerate(page)
    await form(page).getByLabel('Custom key').fill('spring-sale-2030')
    await submit(page)
    await expectToast(page, 'Licenses Generated')
    await dialog(page, 'Licenses Generated').getByRole('button', { name: 'Done' }).click()
    await expect(rows(page)).toContainText(/spring-sale-2030/i)
  })

  test('rejects licenses beyond the limit of the free plan', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await vendor.createLicenses(app, 29)
    await enter(page, vendor, '/licenses')
    await expect(
      page.getByText('Each app is limited to 30 licenses. Upgrade for unlimited licenses.', { exact: true }),
    ).toBeVisible()
    await expect(page.getByRole('link', { name: 'Upgrade Now' })).toHaveAttribute('href', '/subscription')
    await openGenerate(page)
    await expect(form(page)).toContainText('1 left')
    await expect(form(page).getByRole('link', { name: 'Upgrade' })).toHaveAttribute('href', '/subscription')
    await form(page).getByLabel('Amount').fill('2')
    await submit(page)
    const toast = page.locator('[data-sonner-toast]').filter({ hasText: 'Generation Failed' })
    await expect(toast).toContainText(/30/)
    await expect(form(page)).toBeVisible()
    await form(page).getByLabel('Amount').fill('1')
    await submit(page)
    await expectToast(page, 'Licenses Generated')
  })

  test('shows a limit of 30 if the account has none', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await page.route('**/api/auth/profile', async (route) => {
      const response = await route.fetch()
      const answer = await response.json()
      delete answer.data.user.maxLicensesPerApp
      await route.fulfill({ response, json: answer })
    })
    await enter(page, vendor, '/licenses')
    await expect(page.getByText('Each app is limited to 30 licenses.')).toBeVisible()
  })

  test('shows no limit and no banner on premium', { tag: '@full' }, async ({ page, request, keyward }) => {
    const vendor = await Vendor.signUp(request)
    makePremium(keyward, vendor)
    const app = await vendor.createApp()
    await vendor.createLicenses(app, 30)
    await enter(page, vendor, '/licenses')
    const counted = page.waitForResponse('**/stats')
    await openGenerate(page)
    await counted
    await settle(page)
    await expect(form(page)).not.toContainText('left')
    await submit(page)
    await expectToast(page, 'Licenses Generated')
    await expect(page.getByText('Each app is limited')).toBeHidden()
  })
})

test.describe('a license', () => {
  test('gets an expiry counted from now, previewed in the dialog, together with its end user', async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [license] = await vendor.createLicenses(app, 1, 90)
    await (await Program.start(request, app)).register('erik', license!)
    await enter(page, vendor, '/licenses')
    await rowAction(page, keyPrefix(license!.key), 'Edit Expiry')
    const edit = dialog(page, 'Edit Expiry')
    const by = edit.getByLabel('Extend By')
    const update = edit.getByRole('button', { name: 'Update Expiry' })
    await expect(edit).toContainText(shownDate(license!.expiresAt))
    for (const wrong of ['0', '-5', '1.5', '']) {
      await by.fill(wrong)
      await update.click()
      await expect(edit.getByText('—')).toBeVisible()
    }
    await by.fill('45')
    await expect(edit).toContainText(shownDate(inDays(45)))
    await expect(edit).toContainText('This shortens the license')
    await expect(update).toBeDisabled()
    await edit.getByRole('switch', { name: 'Shorten the license' }).click()
    await update.click()
    await expectToast(page, 'License Updated')
    await expect(edit).toBeHidden()
    await expect(row(page, keyPrefix(license!.key))).toContainText(shownDate(inDays(45)))
    const { clients } = await vendor.call('GET', '/clients')
    expect(shownDate(clients[0].expiresAt)).toBe(shownDate(inDays(45)))
  })

  test('is extended from its current expiry, which Undo reverts', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const [license] = await vendor.createLicenses(await vendor.createApp(), 1, 90)
    await enter(page, vendor, '/licenses')
    await rowAction(page, keyPrefix(license!.key), 'Extend License')
    const extend = dialog(page, 'Extend License')
    await extend.getByText('Other', { exact: true }).click()
    await extend.getByLabel('Extend By').fill('10')
    await expect(extend).toContainText(shownDate(inDays(100)))
    await extend.getByRole('button', { name: 'Extend License' }).click()
    await expect(row(page, keyPrefix(license!.key))).toContainText(shownDate(inDays(100)))
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(row(page, keyPrefix(license!.key))).toContainText(shownDate(inDays(90)))
  })

  test('is unbanned by Undo, unless someone banned it for another reason since', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const [license] = await vendor.createLicenses(await vendor.createApp(), 1, 90)
    const read = async () => (await vendor.call('GET', `/licenses/${license!._id}`)).license
    await enter(page, vendor, '/licenses')
    const ban = async () => {
      await rowAction(page, keyPrefix(license!.key), 'Ban License')
      await dialog(page, 'Ban License').getByRole('button', { name: 'Ban License' }).click()
      await expect(row(page, keyPrefix(license!.key))).toContainText('Banned')
      await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible()
    }
    await ban()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expectToast(page, 'Undone', '1 license restored.')
    await expect(row(page, keyPrefix(license!.key))).toContainText('Unused')
    await ban()
    const fraud = { is_banned: true, reason: 'Fraud' }
    await vendor.call('PATCH', `/licenses/${license!._id}/toggle-ban`, fraud)
    await page.getByRole('button', { name: 'Undo' }).click()
    await expectToast(
      page,
      'Nothing Undone',
      '0 of 1 license restored. 1 has changed since, and stays as it is.',
    )
    expect(await read()).toMatchObject({ banned: true, banReason: 'Fraud' })
  })

  test('is extended by a calendar month from its current expiry in two clicks', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const expiresAt = '2040-01-31T12:00:00.000Z'
    const [license] = await vendor.createLicenses(app)
    await vendor.call('PUT', `/licenses/${license!._id}`, { expiresAt })
    await enter(page, vendor, `/licenses/${license!._id}`)
    await page.getByRole('button', { name: 'Extend License' }).click()
    await dialog(page, 'Extend License').getByRole('button', { name: 'Extend License' }).click()
    await expectToast(page, 'License Updated')
    const { license: extended } = await vendor.call('GET', `/licenses/${license!._id}`)
    expect(extended.expiresAt).toBe('2040-02-29T12:00:00.000Z')
  })

  test('that never expires gets an end only after a switch', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const [license] = await vendor.createLicenses(await vendor.createApp())
    await vendor.call('PUT', `/licenses/${license!._id}`, { expiresAt: null })
    await enter(page, vendor, '/licenses')
    await rowAction(page, keyPrefix(license!.key), 'Edit Expiry')
    const edit = dialog(page, 'Edit Expiry')
    const update = edit.getByRole('button', { name: 'Update Expiry' })
    await expect(update).toBeDisabled()
    await edit.getByRole('switch', { name: 'Shorten the license' }).click()
    await update.click()
    await expect(row(page, keyPrefix(license!.key))).toContainText(shownDate(inDays(30)))
    await page.getByRole('button', { name: 'Undo' }).click()
    await expectToast(page, 'Undone', '1 license restored.')
    expect((await vendor.call('GET', `/licenses/${license!._id}`)).license).toMatchObject({
      expiresAt: null,
      term: 'forever',
    })
  })

  test('that is banned offers Unban first', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const [license] = await vendor.createLicenses(await vendor.createApp())
    await vendor.call('PUT', `/licenses/${license!._id}`, { expiresAt: null })
    await vendor.call('PATCH', `/licenses/${license!._id}/toggle-ban`, { is_banned: true })
    await enter(page, vendor, '/licenses')
    await row(page, keyPrefix(license!.key))
      .getByRole('button', { name: /^Actions for/ })
      .click()
    await expect(page.getByRole('menuitem').first()).toHaveText('Unban License')
  })

  test('is banned, which rejects its programs, and unbanned', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [license] = await vendor.createLicenses(app)
    const program = await Program.start(request, app)
    await program.register('erik', license!)
    await enter(page, vendor, '/licenses')
    const line = row(page, keyPrefix(license!.key))
    await expect(line).toContainText('Active')
    await expect(line).toContainText('Used by erik')
    await rowAction(page, keyPrefix(license!.key), 'Ban License')
    await dialog(page, 'Ban License').getByRole('button', { name: 'Ban License' }).click()
    await expectToast(page, 'License Banned')
    await expect(line).toContainText('Banned')
    expect(await program.login('erik')).toMatchObject({
      status: 403,
      body: { code: 'keyBanned', message: 'License key is banned' },
    })
    await rowAction(page, keyPrefix(license!.key), 'Unban License')
    await expectToast(page, 'License Unbanned')
    await expect(line).toContainText('Active')
    expect(await program.login('erik')).toMatchObject({ body: { success: true } })
  })

  test('is deleted after a confirmation that explains what happens to its end user', {
    tag: ['@full', '@phone'],
  }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [license] = await vendor.createLicenses(app)
    const program = await Program.start(request, app)
    await program.register('erik', license!)
    await enter(page, vendor, '/licenses')
    await rowAction(page, keyPrefix(license!.key), 'Delete License')
    const question = dialog(page, 'Delete License')
    await expect(question).toContainText('cannot be undone')
    await expect(question).toContainText('in use by erik')
    await question.getByRole('button', { name: 'Cancel' }).click()
    await expect(row(page, keyPrefix(license!.key))).toBeVisible()
    await rowAction(page, keyPrefix(license!.key), 'Delete License')
    await question.getByRole('button', { name: 'Delete License' }).click()
    await expectToast(page, 'License Deleted')
    await expect(page.getByText('No licenses found')).toBeVisible()
    expect(await program.login('erik')).toMatchObject({ body: { code: 'noActiveSubs' } })
  })
})

test('an unused license is added to an end user of its app, from its page', { tag: '@phone' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [first, spare] = await vendor.createLicenses(app, 2, 30)
  await enter(page, vendor, `/licenses/${spare!._id}`)
  const attach = dialog(page, 'Add to End User')
  await rowAction(page, keyPrefix(spare!.key), 'Add to End User')
  await expect(attach).toContainText('Tally has no end users yet')
  await attach.getByRole('button', { name: 'Cancel' }).click()

  await (await Program.start(request, app)).register('grace', first!, 'ship')
  await rowAction(page, keyPrefix(spare!.key), 'Add to End User')
  await attach.getByRole('button', { name: 'Add License' }).click()
  await expect(attach.getByText('Choose an end user').first()).toBeVisible()
  await choose(attach, 'End user', 'grace')
  await expectAccessible(page, 'a license for an end user')
  await attach.getByRole('button', { name: 'Add License' }).click()
  await expectToast(page, 'License Added', 'grace uses it from now on.')
  await expect(page.getByRole('main')).toContainText('Used bygrace')
  await page.getByRole('button', { name: `Actions for ${keyPrefix(spare!.key)}` }).click()
  await expect(page.getByRole('menuitem', { name: 'Change Type' })).toBeVisible()
  await expect(page.getByRole('menuitem', { name: 'Add to End User' })).toHaveCount(0)
})

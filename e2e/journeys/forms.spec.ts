import type { Locator, Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { someOf } from '../pages.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import {
  type App,
  choose,
  dialog,
  enter,
  expectToast,
  row,
  settle,
  unique,
  type Vendor,
  visit,
} from '../steps.ts'

const panel = (page: Page) => page.getByRole('dialog').first()
const placeOf = async (target: Locator) => (await target.boundingBox())!

test('the first click after opening Add New Reseller generates a password', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor } = await premiumVendor(request, keyward)
  await enter(page, vendor, '/resellers?dialog=create')
  await expect(panel(page).getByLabel('Email')).toBeFocused()
  await page.getByRole('button', { name: 'Generate Password' }).click()
  await expect(panel(page).getByLabel('Password', { exact: true })).toHaveValue(/^.{12}$/)
  await expect(panel(page).getByRole('alert')).toHaveCount(0)
})

test('an error of a field causes no layout shift', { tag: '@full' }, async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  await enter(page, vendor, '/resellers?dialog=create')
  const email = panel(page).getByLabel('Email')
  const submit = panel(page).getByRole('button', { name: 'Create Reseller' })
  await settle(page)
  const before = await placeOf(submit)
  await email.fill('nonsense')
  await email.blur()
  await expect(panel(page).getByRole('alert')).toHaveText('Please enter a valid email address')
  expect(await placeOf(submit)).toEqual(before)
})

test('requires an email, a password, an app and a limit from 1 to 10,000 for a new reseller', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  await vendor.createApp('Ledger')
  const email = `${unique('rita')}@example.com`
  await enter(page, vendor, '/resellers?dialog=create')
  const form = dialog(page, 'Add New Reseller')
  const limit = form.getByLabel('License Key Limit')
  const submit = form.getByRole('button', { name: 'Create Reseller' })
  await expect(limit).toHaveValue('10')
  await limit.fill('')
  await submit.click()
  await expect(form.getByRole('alert')).toHaveText([
    'Please enter a valid email address',
    /at least 6 characters/,
    'Choose an application',
    'Please enter a valid license limit (0 or greater)',
  ])
  await form.getByLabel('Email').fill(email)
  await form.getByLabel('Password', { exact: true }).fill('some-password')
  await limit.fill('0')
  await submit.click()
  await expect(form.getByRole('combobox', { name: 'Application' })).toBeFocused()
  await choose(form, 'Application', 'Ledger')
  for (const [value, text] of [
    ['0', 'License limit must be 1 or greater'],
    ['10001', 'License limit cannot exceed 10,000'],
  ] as const) {
    await limit.fill(value)
    await submit.click()
    await expect(form.getByRole('alert')).toHaveText([text])
  }
  await limit.fill('10000')
  await submit.click()
  await expectToast(page, 'Reseller account has been created successfully.')
  await dialog(page, 'Reseller Created').getByRole('button', { name: 'Done' }).click()
  await expect(row(page, email)).toContainText(/0\/10,?000/)
  await expect(row(page, email)).toContainText('Ledger')
})

test('no form reports an error for an untouched field', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app)
  const forms = [
    '/resellers?dialog=create',
    `/resellers?dialog=edit&id=${reseller._id}`,
    '/dashboard?dialog=new-app',
    `/dashboard?dialog=edit-app&id=${app._id}`,
    '/licenses?dialog=generate',
    '/users?dialog=create',
    '/profile?dialog=change-password',
    '/profile?dialog=change-email',
  ]
  await enter(page, vendor)
  for (const path of forms) {
    await page.keyboard.press('Escape')
    await expect(panel(page)).toHaveCount(0)
    await visit(page, path)
    await expectQuiet(page, panel(page), path)
  }
  await enterPortal(page, await Seller.signIn(request, reseller), '/reseller/licenses?dialog=generate')
  await expectQuiet(page, panel(page), 'portal')
})

test('sign-up reports no error for an untouched field', { tag: '@full' }, async ({ page }) => {
  await page.goto('/auth?tab=sign-up')
  await expectQuiet(page, page.getByRole('tabpanel'), 'sign-up')
})

test('every select offers only options that can be selected', async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  await vendor.createApp('Ledger')
  await fill(vendor, app)
  await enter(page, vendor)
  const selects = [
    ['/licenses?dialog=generate', ['Application', 'Expiry Unit', 'Term']],
    ['/licenses', ['App', 'Status', 'Order']],
    ['/resellers', ['App', 'Status']],
    ['/resellers?dialog=create', ['Application']],
    ['/users', ['App', 'Status', 'Order']],
    ['/users?dialog=create', ['Application']],
  ] as const
  for (const [path, names] of someOf(selects)) {
    await visit(page, path)
    const scope = path.includes('dialog') ? panel(page) : page.getByRole('main')
    // Types are found by what is typed: this vendor has none.
    const others = ['/licenses', '/users'].includes(path) ? 1 : 0
    await expect(scope.getByRole('combobox')).toHaveCount(names.length + others)
    for (const name of names) {
      const select = scope.getByRole('combobox', { name, exact: true })
      await select.click()
      await expect(page.getByRole('option').first()).toBeVisible()
      const options = await page.getByRole('option').allInnerTexts()
      expect(options.length, `${path}: ${name}`).toBeGreaterThan(1)
      await page.keyboard.press('Escape')
      for (const option of options) {
        await choose(scope, name, option)
        await expect(select, `${path}: ${name}`).toHaveText(option)
      }
    }
  }
})

/** One object of each kind, so that every list shows its filters. */
async function fill(vendor: Vendor, app: App) {
  await createReseller(vendor, app)
  await vendor.createLicenses(app)
  await vendor.createEndUser(app, 'erik')
}

/** Focuses every field without input. */
async function expectQuiet(page: Page, form: Locator, what: string) {
  const fields = form.locator('input:not([type=file], [hidden]):enabled, textarea:enabled')
  await expect(fields.first(), what).toBeVisible()
  for (const field of await fields.all()) {
    await field.focus()
    await field.blur()
  }
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  await expect(form.getByRole('alert'), what).toHaveCount(0)
}

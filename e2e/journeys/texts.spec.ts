import type { Page, Route } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import {
  dialog,
  enter,
  expectToast,
  heading,
  keyPrefix,
  Program,
  part,
  pauseAll,
  pauseApp,
  row,
  rowAction,
  Vendor,
} from '../steps.ts'

/** A failure without a message, so that the console shows its own texts. */
const silent = (route: Route) => route.fulfill({ status: 200, json: { success: false } })

/** Makes every writing call fail without a message. */
const silenceChanges = (page: Page) =>
  page.route('**/api/**', (route) =>
    route.request().method() === 'GET' || route.request().url().includes('/auth/logout')
      ? route.fallback()
      : silent(route),
  )

async function signInAndUp(page: Page, messages: { login: string; registration: string }) {
  await page.goto('/auth')
  await page.getByLabel('Email').fill('nora@example.com')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign In' }).click()
  await expectToast(page, 'Login Failed', messages.login)

  await page.getByRole('tab', { name: 'Sign Up' }).click()
  await page.getByLabel('Full Name').fill('Nora New')
  await page.getByLabel('Email').fill('nora@example.com')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByLabel('Confirm Password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await expectToast(page, 'Registration Failed', messages.registration)
}

test('sign-in and sign-up show their texts for a response without data', { tag: '@full' }, async ({
  page,
}) => {
  await page.route('**/api/auth/*', silent)
  await signInAndUp(page, {
    login: 'Invalid credentials. Please try again.',
    registration: 'Failed to create account. Please try again.',
  })
})

test('sign-in and sign-up show their texts for an error without a message', { tag: '@full' }, async ({
  page,
}) => {
  await page.route('**/api/auth/*', (route) => route.fulfill({ json: { success: true } }))
  await signInAndUp(page, {
    login: 'An error occurred during login.',
    registration: 'An error occurred during registration.',
  })
})

test('dashboard and settings show their texts for errors without a message', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await silenceChanges(page)
  await enter(page, vendor)

  await pauseApp(page, 'Tally')
  await expectToast(page, 'Failed to toggle app pause state')
  await dialog(page, 'Pause Tally?').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Add App' }).click()
  const add = dialog(page, 'Add New App')
  await add.getByLabel('App Name').fill('Other')
  await add.getByRole('button', { name: 'Create App' }).click()
  await expectToast(page, 'Failed to create app')
  await add.getByRole('button', { name: 'Cancel' }).click()
  await rowAction(page, 'Tally', 'Edit App')
  const edit = dialog(page, 'Edit App')
  await edit.getByRole('button', { name: 'Save Changes' }).click()
  await expectToast(page, 'Failed to update app')
  await edit.getByRole('button', { name: 'Cancel' }).click()
  await rowAction(page, 'Tally', 'Delete App')
  const remove = dialog(page, 'Delete Application')
  await remove.getByRole('textbox').fill('Tally')
  await remove.getByRole('button', { name: 'Delete', exact: true }).click()
  await expectToast(page, 'Failed to delete app')
  await remove.getByRole('button', { name: 'Cancel' }).click()

  await page.route('**/api/apps/*/error-messages', (route) =>
    route.request().method() === 'GET' ? silent(route) : route.fallback(),
  )
  await rowAction(page, 'Tally', 'App Settings')
  const settings = part(page, 'App Settings')
  await settings.getByRole('switch', { name: 'HWID Lock' }).click()
  await expectToast(page, 'Failed to update app settings')
  await page.getByRole('tab', { name: 'Error Messages' }).click()
  const texts = part(page, 'Error Messages')
  await expect(texts.getByText('Failed to load app settings')).toBeVisible()
  await page.unroute('**/api/apps/*/error-messages')
  await texts.getByRole('button', { name: 'Try Again' }).click()
  await texts.getByLabel('keyUsed', { exact: true }).fill('Taken')
  await texts.getByRole('button', { name: 'Save Messages' }).click()
  await expectToast(page, 'Failed to update error messages')

  await page.goto('/settings')
  await expect(page.getByText('Danger Zone')).toBeVisible()
  await pauseAll(page)
  await expectToast(page, 'Failed to update settings')
  await dialog(page, 'Pause all applications?').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Reset Data' }).click()
  const reset = dialog(page, 'Reset all platform data?')
  await reset.getByLabel('Type RESET to confirm').fill('RESET')
  await reset.getByLabel('Password', { exact: true }).fill('whatever')
  await reset.getByRole('button', { name: 'Reset Data' }).click()
  await expectToast(page, 'Failed to reset platform data')
  await page.route('**/api/settings', silent)
  await page.goto('/settings')
  await expect(page.getByText('Failed to load settings')).toBeVisible()
})

test('licenses and end users show their texts for errors without a message', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 2)
  await (await Program.start(request, app)).register('erik', license!, 'first device')
  const name = keyPrefix(license!.key)
  await silenceChanges(page)
  await enter(page, vendor, '/licenses')
  await expect(page.getByText('Recent Licenses')).toBeVisible()

  await page.getByRole('button', { name: 'Generate License' }).first().click()
  const generate = dialog(page, 'Generate License')
  await generate.getByRole('button', { name: 'Generate License' }).click()
  await expectToast(page, 'Generation Failed', 'Failed to generate licenses.')
  await generate.getByRole('button', { name: 'Cancel' }).click()
  await rowAction(page, name, 'Edit Expiry')
  await dialog(page, 'Edit Expiry').getByRole('button', { name: 'Update Expiry' }).click()
  await expectToast(page, 'Update Failed', 'Failed to update license.')
  await dialog(page, 'Edit Expiry').getByRole('button', { name: 'Cancel' }).click()
  await rowAction(page, name, 'Delete License')
  await dialog(page, 'Delete License').getByRole('button', { name: 'Delete License' }).click()
  await expectToast(page, 'Delete Failed', 'Failed to delete license.')
  await dialog(page, 'Delete License').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Delete All' }).click()
  const all = dialog(page, 'Delete All Licenses')
  await all.getByRole('textbox').fill('delete all')
  await all.getByRole('button', { name: 'Delete All' }).click()
  await expectToast(page, 'Delete All Failed')
  await all.getByRole('button', { name: 'Cancel' }).click()

  await page.goto('/users')
  await expect(row(page, 'erik')).toBeVisible()
  await page.getByText('How registration works').click()
  for (const need of ['A username', 'A password', 'A valid license key', /System information/]) {
    await expect(page.getByRole('listitem').filter({ hasText: need })).toBeVisible()
  }
  await expect(page.getByText('The license must not be expired or already used.')).toBeVisible()
  await rowAction(page, 'erik', 'Delete')
  await dialog(page, 'Delete erik?').getByRole('button', { name: 'Delete User' }).click()
  await expectToast(page, 'Delete Failed', 'Failed to delete user.')
  await dialog(page, 'Delete erik?').getByRole('button', { name: 'Cancel' }).click()
  await rowAction(page, 'erik', 'Reset HWID')
  await dialog(page, 'Reset HWID of erik?').getByRole('button', { name: 'Reset HWID' }).click()
  await expectToast(page, 'Reset Failed', 'Failed to reset HWID.')
  await dialog(page, 'Reset HWID of erik?').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Create End User' }).click()
  const create = dialog(page, 'Create End User')
  await create.getByLabel('Username').fill('anna')
  await create.getByLabel('Password', { exact: true }).fill('secret-7')
  await create.getByLabel('Expiry Date').fill(new Date(Date.now() + 864e5).toISOString().slice(0, 10))
  await create.getByRole('button', { name: 'Create User' }).click()
  await expectToast(page, 'Creation Failed', 'Failed to create end user.')
  await create.getByRole('button', { name: 'Cancel' }).click()
  const { clients } = await vendor.call('GET', '/clients')
  await vendor.call('PATCH', `/clients/${clients[0]._id}/toggle-ban`)
  await page.reload()
  await rowAction(page, 'erik', 'Unban')
  await dialog(page, 'Unban erik?').getByRole('button', { name: 'Unban User' }).click()
  await expectToast(page, 'Unban Failed')
})

test('resellers and their portal show their texts for errors without a message', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app, 5)
  const seller = await Seller.signIn(request, reseller)
  await seller.generate(1)
  await silenceChanges(page)
  await enter(page, vendor, '/resellers?dialog=create')
  const create = dialog(page, 'Add New Reseller')
  await create.getByLabel('Email').fill('rita@example.com')
  await create.getByLabel('Password', { exact: true }).fill('some-password')
  await create.getByRole('button', { name: 'Create Reseller' }).click()
  await expectToast(page, 'Failed to create reseller.')
  await create.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByText('What resellers do')).toBeVisible()
  await rowAction(page, reseller.email, 'Edit License Limit')
  const edit = dialog(page, 'Edit Reseller License Limit')
  await edit.getByRole('button', { name: 'Update Limit' }).click()
  await expectToast(page, 'Failed to update reseller license limit')
  await edit.getByRole('button', { name: 'Cancel' }).click()
  await rowAction(page, reseller.email, 'Suspend')
  await dialog(page, 'Suspend Reseller').getByRole('button', { name: 'Suspend' }).click()
  await expectToast(page, 'Failed to update reseller.')
  await page.route('**/api/resellers?*', silent)
  await page.goto('/resellers')
  await expect(page.getByText('Failed to load resellers')).toBeVisible()

  await enterPortal(page, seller, '/reseller/licenses?dialog=generate')
  await dialog(page, 'Generate License').getByRole('button', { name: 'Generate License' }).click()
  await expectToast(page, 'Failed to create licenses')
  await page.goto('/reseller/licenses?dialog=delete-all')
  const remove = dialog(page, 'Delete All Licenses')
  await remove.getByRole('textbox').fill('delete all')
  await remove.getByRole('button', { name: 'Delete All' }).click()
  await expectToast(page, 'Failed to delete licenses')
  await page.route('**/api/resellers/auth/licenses?*', silent)
  await page.goto('/reseller/dashboard')
  await expect(page.getByText('Failed to fetch licenses')).toBeVisible()
})

test('a reseller without an email cannot be deleted', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const { _id } = await createReseller(vendor, app)
  await page.route('**/api/resellers?*', async (route) => {
    const response = await route.fetch()
    const answer = await response.json()
    answer.data.resellers[0].email = ''
    await route.fulfill({ response, json: answer })
  })
  await enter(page, vendor, `/resellers?dialog=delete&id=${_id}`)
  await dialog(page, 'Delete Reseller').getByRole('button', { name: 'Delete Reseller' }).click()
  await expectToast(page, 'Invalid reseller data')
  expect(await vendor.call('GET', '/resellers')).toMatchObject({ resellers: [{ _id }] })
})

test('a profile without a name shows an error', { tag: '@full' }, async ({ page, request }) => {
  await page.route('**/api/auth/profile', async (route) => {
    const response = await route.fetch()
    const answer = await response.json()
    answer.data.user.name = ''
    await route.fulfill({ response, json: answer })
  })
  await enter(page, await Vendor.signUp(request), '/profile')
  await expect(heading(page, 'Profile')).toBeVisible()
  await expect(page.getByText('Unable to load profile data')).toBeVisible()
  await expect(page.getByText('Please try refreshing the page')).toBeVisible()
})

test('every page of an owner and of a reseller redirects to sign-in when signed out', async ({ page }) => {
  const names = [
    'dashboard',
    'resellers',
    'licenses',
    'orders',
    'users',
    'customers',
    'activity',
    'profile',
    'profile/security',
    'settings',
    'settings/api-keys',
    'settings/notifications',
    'audit',
    'settings/integrations',
    'subscription',
  ]
  // `visit` waits for a page to appear; the one to sign in may stay where it is.
  const open = (path: string) =>
    path === '/subscription'
      ? page.goto(path)
      : page.evaluate(`history.pushState({}, '', '${path}'); dispatchEvent(new PopStateEvent('popstate'))`)
  // The page to sign in has no router when it is opened directly.
  await page.goto('/dashboard')
  for (const name of names) {
    await open(`/${name}`)
    await expect(page).toHaveURL('/auth')
    // Leaving /subscription reloads the document, which would interrupt the next navigation.
    await expect(page.getByRole('tab', { name: 'Sign In' })).toBeVisible()
  }
  await page.goto('/reseller/dashboard')
  for (const name of ['dashboard', 'licenses', 'profile', 'profile/security']) {
    await open(`/reseller/${name}`)
    await expect(page).toHaveURL('/reseller/auth')
  }
})

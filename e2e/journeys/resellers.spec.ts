import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { createReseller, dayInput, premiumVendor, Seller, setPlan, signInToPortal } from '../reseller.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  figure,
  heading,
  keyPrefix,
  openFilters,
  readClipboard,
  row,
  rowAction,
  shownDate,
  unique,
  Vendor,
  visit,
} from '../steps.ts'

test('a reseller is created, generates within its quota, is suspended and deleted; its licenses stay', async ({
  page,
  browser,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const email = `${unique('rita')}@example.com`
  const context = await browser.newContext({
    baseURL: keyward.url,
    viewport: page.viewportSize(),
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  })
  const portal = await context.newPage()

  const password =
    await test.step('the owner creates the reseller with a generated password, shown once', async () => {
      await enter(page, vendor, '/resellers')
      await expect(heading(page, 'Resellers')).toBeVisible()
      await expect(page.getByRole('main').getByText('Manage your reseller network')).toBeVisible()
      await page.getByRole('button', { name: 'Create First Reseller' }).click()
      const form = dialog(page, 'Add New Reseller')
      await expect(form.getByLabel('License Key Limit')).toHaveValue('10')
      await form.getByLabel('Email').fill(`  ${email} `)
      await form.getByRole('button', { name: 'Generate Password' }).click()
      await expect(form.getByLabel('Password', { exact: true })).toHaveValue(/^[A-Za-z0-9!@#$%^&*]{12}$/)
      await form.getByLabel('License Key Limit').fill('3')
      await form.getByRole('button', { name: 'Create Reseller' }).click()
      await expectToast(page, 'Reseller account has been created successfully.')
      const view = dialog(page, 'Reseller Created')
      await expect(view.getByText('It cannot be seen again.')).toBeVisible()
      await expect(view).toContainText(email)
      await expect(view).toContainText('Tally')
      await page.keyboard.press('Escape')
      await dialog(page, 'Close the credentials?').getByRole('button', { name: 'Back' }).click()
      await view.getByRole('button', { name: 'Copy password' }).click()
      await expectToast(page, 'Copied to clipboard')
      const copied = await readClipboard(page)
      expect(copied).toMatch(/^[A-Za-z0-9!@#$%^&*]{12}$/)
      await view.getByRole('button', { name: 'Done' }).click()
      await expect(view).toBeHidden()
      for (const text of ['Tally', shownDate(Date.now()), '0/3', 'Active']) {
        await expect(row(page, email)).toContainText(text)
      }
      await expect(page.getByText(copied)).toHaveCount(0)
      return copied
    })

  await test.step('the reseller signs in to the portal in a new tab', async () => {
    const link = page.getByRole('link', { name: 'Reseller Portal' })
    await expect(link).toHaveAttribute('href', '/reseller/auth')
    await expect(link).toHaveAttribute('target', '_blank')
    await portal.goto('/reseller/auth')
    await signInToPortal(portal, { email, password })
    await expectToast(portal, 'Welcome to your reseller portal!')
    await expect(heading(portal, 'Dashboard')).toBeVisible()
    await expect(figure(portal, 'Total Generated')).toContainText('3 remaining')
  })

  await test.step('the reseller generates licenses until the quota is used up', async () => {
    await portal.goto('/reseller/licenses')
    const generate = portal.getByRole('button', { name: 'Generate License' }).first()
    await generate.click()
    const form = dialog(portal, 'Generate License')
    await form.getByLabel('Number of Licenses').fill('4')
    await form.getByLabel('Expiration Date').fill(dayInput(10))
    await form.getByRole('button', { name: 'Generate License' }).click()
    await expect(form.getByText('Enter a whole number from 1 to 3')).toBeVisible()
    await form.getByLabel('Number of Licenses').fill('3')
    await form.getByRole('button', { name: 'Generate License' }).click()
    await expectToast(portal, 'Licenses generated successfully!', '3 license(s) created successfully')
    await portal.getByRole('button', { name: 'Done' }).click()
    await expect(portal.getByText('Your license quota is used up')).toBeVisible()
    await expect(generate).toBeDisabled()
    await expect(figure(portal, 'Total Generated')).toContainText('0 remaining')
  })

  await test.step('the owner sees the counts', async () => {
    await page.reload()
    await expect(row(page, email)).toContainText('3/3')
    await expect(figure(page, 'Total Resellers')).toContainText('1')
    await expect(figure(page, 'Licenses Created')).toContainText('3')
    await expect(figure(page, 'Average')).toContainText('3')
  })

  await test.step('a limit below the created licenses needs a confirmation', async () => {
    await rowAction(page, email, 'Edit License Limit')
    const form = dialog(page, 'Edit Reseller License Limit')
    const limit = form.getByLabel('License Limit')
    await limit.fill('5')
    await expect(form.locator('dl')).toHaveText(/New limit5Used3Remaining2/)
    await limit.fill('-1')
    await expect(form.getByText('Please enter a valid license limit (0 or greater)')).toBeVisible()
    await limit.fill('10001')
    await expect(form.getByText('License limit cannot exceed 10,000')).toBeVisible()
    await limit.fill('1')
    await expect(form.getByText('This is below the 3 licenses already created.')).toBeVisible()
    await expect(form.locator('dl')).toHaveText(/New limit1Used3Remaining0/)
    await form.getByRole('button', { name: 'Update Limit' }).click()
    const question = dialog(page, 'Set the limit below the licenses already created?')
    await expect(question).toContainText('cannot create more until some are deleted')
    await question.getByRole('button', { name: 'Back' }).click()
    await expect(limit).toHaveValue('1')
    await form.getByRole('button', { name: 'Update Limit' }).click()
    await question.getByRole('button', { name: 'Continue' }).click()
    await expectToast(page, 'Reseller license limit has been updated successfully.')
    await expect(row(page, email)).toContainText('3/1')
  })

  await test.step('suspending signs the reseller out until resumed', async () => {
    await rowAction(page, email, 'Suspend')
    await dialog(page, 'Suspend Reseller').getByRole('button', { name: 'Suspend' }).click()
    await expectToast(page, 'Reseller suspended')
    await expect(row(page, email)).toContainText('Suspended')
    await portal.getByRole('button', { name: 'Refresh' }).click()
    await expectToast(portal, 'Session Expired', 'Your session has expired. Please log in again.')
    await expect(portal).toHaveURL('/reseller/auth')
    await signInToPortal(portal, { email, password })
    await expect(portal.getByRole('main').getByRole('alert')).toHaveText(
      'Invalid email or password. Please check your credentials.',
    )
    await rowAction(page, email, 'Resume')
    await expectToast(page, 'Reseller resumed')
    await expect(row(page, email)).toContainText('Active')
    await signInToPortal(portal, { email, password })
    await expectToast(portal, 'Welcome to your reseller portal!')
    await expect(portal).toHaveURL('/reseller/licenses')
  })

  await test.step('deleting removes the reseller and keeps its licenses', async () => {
    await rowAction(page, email, 'Delete Reseller')
    const question = dialog(page, 'Delete Reseller')
    await expect(question).toContainText("You keep the reseller's 3 licenses and their end users.")
    const confirm = question.getByRole('button', { name: 'Delete Reseller' })
    await question.getByRole('textbox').fill(email.toUpperCase())
    await expect(confirm).toBeDisabled()
    await question.getByRole('textbox').fill(email)
    await confirm.click()
    await expectToast(page, 'Reseller has been permanently deleted.')
    await expect(page.getByText('No resellers yet')).toBeVisible()
    await portal.getByRole('button', { name: 'Refresh' }).click()
    await expect(portal).toHaveURL('/reseller/auth')
    const { licenses } = await vendor.call('GET', `/licenses?app=${app._id}`)
    expect(licenses).toHaveLength(3)
    await page.goto('/licenses')
    await expect(row(page, keyPrefix(licenses[0].key))).toBeVisible()
  })
  await context.close()
})

test('an owner on the free plan is offered premium instead of the form', async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await enter(page, vendor, '/resellers')
  const main = page.getByRole('main')
  await expect(main.getByText('On the free plan you cannot create resellers')).toBeVisible()
  await expect(main.getByRole('link', { name: 'Upgrade to Premium' })).toHaveAttribute(
    'href',
    '/subscription',
  )
  await expect(page.getByRole('link', { name: 'Upgrade to Create Resellers' })).toHaveAttribute(
    'href',
    '/subscription',
  )
  await page.getByRole('button', { name: 'Add Reseller' }).click()
  const view = dialog(page, 'Add New Reseller')
  await expect(view.getByText('only available for premium subscribers')).toBeVisible()
  await expect(view.getByLabel('Email')).toHaveCount(0)
  await view.getByRole('link', { name: 'Upgrade to Premium' }).click()
  await expect(page).toHaveURL('/subscription')
  await expect(heading(page, 'Subscription')).toBeVisible()
})

test('without an app the form is blocked, with a link to create one', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  setPlan(keyward, vendor, 'premium')
  await enter(page, vendor, '/resellers?dialog=create')
  const form = dialog(page, 'Add New Reseller')
  await expect(form.getByText('You need to create an app first before adding resellers.')).toBeVisible()
  await expect(form.getByLabel('Email')).toBeDisabled()
  await expect(form.getByRole('button', { name: 'Create Reseller' })).toBeDisabled()
  await form.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Create App First' }).click()
  await expect(page).toHaveURL('/dashboard')
})

test('a failed creation shows the reason and clears the form', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const { email } = await createReseller(vendor, app)
  await enter(page, vendor, '/resellers?dialog=create')
  const form = dialog(page, 'Add New Reseller')
  await form.getByRole('button', { name: 'Create Reseller' }).click()
  await expect(form.getByText('Please enter a valid email address')).toBeVisible()
  await form.getByLabel('Email').fill(email)
  await form.getByLabel('Password', { exact: true }).fill('some-password')
  await form.getByLabel('License Key Limit').fill('0')
  await form.getByRole('button', { name: 'Create Reseller' }).click()
  await expect(form.getByText('License limit must be 1 or greater')).toBeVisible()
  await form.getByLabel('License Key Limit').fill('77')
  await form.getByRole('button', { name: 'Create Reseller' }).click()
  await expectToast(page, 'A reseller with this email already exists')
  await expect(form.getByLabel('Email')).toHaveValue('')
  await expect(form.getByLabel('Password', { exact: true })).toHaveValue('')
  await expect(form.getByLabel('License Key Limit')).toHaveValue('10')
  await expect(form.getByText('A reseller with this email already exists')).toBeVisible()
})

test('the directory is searched and filtered, kept in the URL', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const second = await vendor.createApp('Other')
  const [one, two, three] = [
    await createReseller(vendor, app),
    await createReseller(vendor, second),
    await createReseller(vendor, app),
  ]
  await vendor.call('PUT', `/resellers/${three._id}`, { active: false })
  await enter(page, vendor, '/resellers')
  await expect(page.getByText('1–3 of 3 resellers')).toBeVisible()
  await openFilters(page)
  await choose(page, 'App', 'Tally')
  await expect(row(page, two.email)).toHaveCount(0)
  await choose(page, 'Status', 'Suspended')
  await expect(row(page, three.email)).toBeVisible()
  await expect(row(page, one.email)).toHaveCount(0)
  await page.reload()
  await expect(row(page, three.email)).toBeVisible()
  await expect(row(page, one.email)).toHaveCount(0)
  await openFilters(page)
  await page.getByRole('searchbox', { name: 'Search resellers' }).fill('nobody at all')
  await expect(page.getByText('No resellers found')).toBeVisible()
  await expect(figure(page, 'Total Resellers')).toContainText('3')
  await page.getByRole('button', { name: 'Clear Filters' }).click()
  await expect(page.getByText('1–3 of 3 resellers')).toBeVisible()
})

test('a list that fails to load shows an error with retry', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const { email } = await createReseller(vendor, app)
  await page.route('**/api/resellers?*', (route) =>
    route.fulfill({ status: 403, json: { success: false, code: 'forbidden', message: 'No' } }),
  )
  await enter(page, vendor, '/resellers')
  await expect(page.getByText('Failed to load resellers')).toBeVisible()
  await expect(page.getByText('Please try refreshing the page')).toBeVisible()
  await page.unroute('**/api/resellers?*')
  await page.getByRole('button', { name: 'Try Again' }).click()
  await expect(row(page, email)).toBeVisible()
})

test('the page and its dialogs are accessible, light and dark', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const busy = await createReseller(vendor, app, 10)
  await (await Seller.signIn(request, busy)).generate(7)
  const full = await createReseller(vendor, app, 2)
  await (await Seller.signIn(request, full)).generate(2)
  await vendor.call('PUT', `/resellers/${full._id}`, { active: false })
  await enter(page, vendor, '/resellers')
  await expect(row(page, busy.email)).toBeVisible()
  await expectAccessible(page, 'resellers')
  for (const [query, title] of [
    ['create', 'Add New Reseller'],
    [`edit&id=${busy._id}`, 'Edit Reseller License Limit'],
    [`suspend&id=${busy._id}`, 'Suspend Reseller'],
    [`delete&id=${busy._id}`, 'Delete Reseller'],
  ] as const) {
    await visit(page, `/resellers?dialog=${query}`)
    await expect(dialog(page, title)).toBeVisible()
    await expectAccessible(page, title)
  }
  await page.goto(`/resellers?dialog=edit&id=${busy._id}`)
  await page.getByRole('spinbutton', { name: 'License Limit' }).fill('1')
  await page.getByRole('button', { name: 'Update Limit' }).click()
  await expect(dialog(page, 'Set the limit below the licenses already created?')).toBeVisible()
  await expectAccessible(page, 'the question about a limit below what exists')
  await page.goto('/resellers?dialog=create')
  const form = dialog(page, 'Add New Reseller')
  await form.getByLabel('Email').fill(`${unique('new')}@example.com`)
  await form.getByRole('button', { name: 'Generate Password' }).click()
  await form.getByRole('button', { name: 'Create Reseller' }).click()
  await expect(dialog(page, 'Reseller Created')).toBeVisible()
  await expectAccessible(page, 'the credentials')
  setPlan(keyward, vendor, 'free')
  await page.goto('/resellers?dialog=create')
  await expect(page.getByText('only available for premium subscribers')).toBeVisible()
  await expectAccessible(page, 'the view for the free plan')
  await page.goto('/resellers?search=nobody')
  await expect(page.getByText('No resellers found')).toBeVisible()
  await expectAccessible(page, 'nothing found, with the warning of the free plan')
})

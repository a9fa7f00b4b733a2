import { DatabaseSync } from 'node:sqlite'
import type { Page } from '@playwright/test'
import { mailedLinks, textsTo } from '../../apps/server/test/mailed.ts'
import { expectAccessible } from '../accessibility.ts'
import { expect, type Keyward } from '../keyward.ts'
import { mailedLink, test } from '../mailing.ts'
import { createReseller, premiumVendor, Seller, signInToPortal, storedResellerToken } from '../reseller.ts'
import { codeOf, setUpApp } from '../second-factor.ts'
import { enter, expectToast, heading, storedToken, unique, Vendor } from '../steps.ts'

const newPassword = 'a brand new password'
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })

async function askForLink(page: Page, email: string) {
  await expect(button(page, 'Send Link')).toBeVisible()
  await page.getByLabel('Email').fill(email)
  await button(page, 'Send Link').click()
  await expect(page.getByText('Check your mail')).toBeVisible()
  await expect(page.getByText(email)).toBeVisible()
}

async function choosePassword(page: Page, password = newPassword) {
  await page.getByLabel('New Password', { exact: true }).fill(password)
  await page.getByLabel('Confirm New Password').fill(password)
  await button(page, 'Change Password').click()
}

async function expectDeadLink(page: Page, forgot: string) {
  await expect(page.getByText('This link does not work')).toBeVisible()
  await expect(link(page, 'Ask for a New Link')).toHaveAttribute('href', forgot)
}

/** Expires every mailed link. */
function expireLinks(keyward: Keyward) {
  const database = new DatabaseSync(`${keyward.dataDir}/keyward.db`, { timeout: 5000 })
  database.prepare('update password_resets set expires_at = ?').run(Date.now())
  database.close()
}

test('an owner resets the password with a mailed link, which invalidates the old one', async ({
  page,
  request,
  context,
  mails,
}) => {
  const vendor = await Vendor.signUp(request, 'Frida Forgot')
  await page.goto('/auth')
  await page.getByLabel('Email').fill(vendor.email)
  await link(page, 'Forgot your password?').click()
  await expect(page).toHaveURL('/auth/forgot')
  await expect(heading(page, 'Forgot your password?')).toBeVisible()
  await expect(page.getByLabel('Email')).toHaveValue(vendor.email)
  await askForLink(page, vendor.email)
  await link(page, 'Back to Sign In').click()
  await expect(page).toHaveURL('/auth')

  const asked: string[] = []
  page.on('request', (made) => asked.push(`${made.url()} ${made.headers().referer ?? ''}`))
  const mailed = await mailedLink(mails, vendor.email)
  await page.goto(mailed)
  await expect(heading(page, 'Choose a new password')).toBeVisible()
  await page.getByLabel('New Password', { exact: true }).fill(newPassword)
  await page.getByLabel('Confirm New Password').fill('something else')
  await expect(page.getByText('Passwords do not match')).toBeVisible()
  await expect(button(page, 'Change Password')).toBeDisabled()
  await choosePassword(page, '12345')
  await expect(page.getByText('Password must have at least 6 characters')).toBeVisible()
  await choosePassword(page)
  await expectToast(page, 'Password changed', 'You have been logged out on all other devices.')
  await expect(page).toHaveURL('/dashboard')
  await expect(heading(page, 'Welcome, Frida Forgot')).toBeVisible()
  expect(await storedToken(page)).not.toBe(vendor.token)
  await expect(vendor.call('GET', '/auth/profile')).rejects.toThrow('401')
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.filter((text) => text.includes('kwp_') && !text.startsWith(mailed))).toEqual([])

  for (const [password, status] of [
    [vendor.password, 401],
    [newPassword, 200],
  ] as const) {
    const answer = await request.post('/api/auth/login', { data: { email: vendor.email, password } })
    expect(answer.status()).toBe(status)
  }
  await expect.poll(() => textsTo(mails, vendor.email).length).toBe(2)
  expect(textsTo(mails, vendor.email)[1]).toContain('was changed')

  const again = await context.newPage()
  await again.goto(mailed)
  await choosePassword(again, 'yet another one')
  await expectDeadLink(again, '/auth/forgot')
  await link(again, 'Ask for a New Link').click()
  await expect(again.getByLabel('Email')).toBeVisible()
})

test('a mailed reset asks for the second factor before it changes the password', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const vendor = await Vendor.signUp(request)
  const reset = async (number: number, password: string) => {
    await request.post('/api/auth/forgot-password', { data: { email: vendor.email } })
    await page.goto(await mailedLink(mails, vendor.email, number))
    await choosePassword(page, password)
  }
  // The first mailed link confirms the address: on an unconfirmed one, a reset would remove the factor.
  await reset(1, newPassword)
  await expect(page).toHaveURL('/dashboard')
  await page.goto('/profile/security')
  const { secret } = await setUpApp(page, keyward)
  await page.evaluate('localStorage.clear()')
  await reset(mailedLinks(mails, vendor.email).length + 1, 'another new password')
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret))
  await button(page, 'Continue').click()
  await expectToast(page, 'Password changed', 'You have been logged out on all other devices.')
  await expect(page).toHaveURL('/dashboard')
})

test('an expired or incomplete link says so and offers a new one', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const vendor = await Vendor.signUp(request)
  await page.goto('/auth/forgot')
  await askForLink(page, vendor.email)
  const mailed = await mailedLink(mails, vendor.email)
  expireLinks(keyward)
  await page.goto(mailed)
  await choosePassword(page)
  await expectDeadLink(page, '/auth/forgot')
  await page.goto('/auth/reset')
  await expectDeadLink(page, '/auth/forgot')
  await link(page, 'Ask for a New Link').click()
  await askForLink(page, vendor.email)
  await page.goto(await mailedLink(mails, vendor.email, 2))
  await choosePassword(page)
  await expect(page).toHaveURL('/dashboard')
})

test('an unknown address reads the same, and a missing or mistyped one is reported on its field', {
  tag: '@full',
}, async ({ page, mails }) => {
  const email = `${unique('nobody')}@example.com`
  await page.goto('/auth/forgot')
  await button(page, 'Send Link').click()
  await expect(page.getByText('Please enter a valid email address')).toBeVisible()
  await page.reload()
  await page.getByLabel('Email').fill('not an address')
  await button(page, 'Send Link').click()
  await expect(page.getByText('Please enter a valid email address')).toBeVisible()
  await expect(page.getByLabel('Email')).toHaveAttribute('aria-invalid', 'true')
  await askForLink(page, email)
  await button(page, 'Ask Again').click()
  await expect(page.getByLabel('Email')).toHaveValue(email)
  expect(textsTo(mails, email)).toEqual([])
})

test('a new password that is missing or not repeated is reported', { tag: '@full' }, async ({ page }) => {
  await page.goto('/auth/reset#kwp_whatever')
  await button(page, 'Change Password').click()
  await expect(page.getByLabel('New Password', { exact: true })).toHaveAttribute('aria-invalid', 'true')
  await page.getByLabel('New Password', { exact: true }).fill(newPassword)
  await page.keyboard.press('Enter')
  await expect(page.getByText('Passwords do not match')).toBeVisible()
  await page.getByLabel('Confirm New Password').fill(newPassword)
  await expect(button(page, 'Change Password')).toBeEnabled()
})

test('a failed request shows the reason and keeps the input', { tag: '@full' }, async ({ page }) => {
  await page.route('**/api/auth/*-password', (route) =>
    route.fulfill({ status: 500, json: { success: false, message: 'The cellar is flooded' } }),
  )
  await page.goto('/auth/forgot')
  await page.getByLabel('Email').fill('vera@example.com')
  await button(page, 'Send Link').click()
  await expect(page.getByText('The cellar is flooded')).toBeVisible()
  await expect(page.getByLabel('Email')).toHaveValue('vera@example.com')
  await page.goto('/auth/reset#kwp_whatever')
  await choosePassword(page)
  await expect(page.getByText('The cellar is flooded')).toBeVisible()
  await expect(page.getByLabel('New Password', { exact: true })).toHaveValue(newPassword)
})

test('the account of the link replaces another signed-in account', { tag: '@full' }, async ({
  page,
  request,
  mails,
}) => {
  const [other, vendor] = [await Vendor.signUp(request, 'Olga Other'), await Vendor.signUp(request, 'Frida')]
  await request.post('/api/auth/forgot-password', { data: { email: vendor.email } })
  await enter(page, other)
  await expect(heading(page, 'Welcome, Olga Other')).toBeVisible()
  await page.goto(await mailedLink(mails, vendor.email))
  await choosePassword(page)
  await expect(heading(page, 'Welcome, Frida')).toBeVisible()
  expect((await other.call('GET', '/auth/profile')).user.name).toBe('Olga Other')
})

test('a reseller resets the password with a mailed link, which invalidates the old one', {
  tag: '@full',
}, async ({ page, request, keyward, mails }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app)
  const seller = await Seller.signIn(request, reseller)
  await page.goto('/reseller/auth')
  await link(page, 'Forgot your password?').click()
  await expect(page).toHaveURL('/reseller/auth/forgot')
  await askForLink(page, reseller.email)
  const mailed = await mailedLink(mails, reseller.email)
  expect(new URL(mailed).pathname).toBe('/reseller/auth/reset')
  await page.goto(mailed)
  await choosePassword(page)
  await expectToast(page, 'Password changed')
  await expect(page).toHaveURL('/reseller/dashboard')
  expect(await storedResellerToken(page)).not.toBe(seller.token)
  await expect(seller.call('GET', '/profile')).rejects.toThrow('401')
  await page.evaluate('localStorage.clear()')
  await page.goto('/reseller/auth')
  await signInToPortal(page, reseller)
  await expect(page.getByText('Invalid email or password. Please check your credentials.')).toBeVisible()
  await signInToPortal(page, { email: reseller.email, password: newPassword })
  await expect(page).toHaveURL('/reseller/dashboard')
  await page.goto(mailed)
  await choosePassword(page)
  await expectDeadLink(page, '/reseller/auth/forgot')
})

test('the password reset pages are accessible and fit the screen', { tag: '@full' }, async ({ page }) => {
  for (const base of ['/auth', '/reseller/auth']) {
    await page.goto(`${base}/forgot`)
    await expect(page.getByLabel('Email')).toBeVisible()
    await expectAccessible(page, `${base}/forgot`)
    await page.getByLabel('Email').fill('nobody')
    await button(page, 'Send Link').click()
    await expect(page.getByText('Please enter a valid email address')).toBeVisible()
    await expectAccessible(page, `${base}/forgot with a mistake`)
    await askForLink(page, `${unique('somebody')}@example.com`)
    await expectAccessible(page, `${base}/forgot, sent`)
    await page.goto(`${base}/reset#kwp_x`)
    await page.getByLabel('New Password', { exact: true }).fill('password1')
    await page.getByLabel('Confirm New Password').fill('other')
    await expect(page.getByText('Passwords do not match')).toBeVisible()
    await expectAccessible(page, `${base}/reset with a mistake`)
    await page.goto(`${base}/reset`)
    await page.reload()
    await expectDeadLink(page, `${base}/forgot`)
    await expectAccessible(page, `${base}/reset, a dead link`)
  }
})

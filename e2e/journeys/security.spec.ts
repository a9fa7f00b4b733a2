import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { createReseller, enterPortal, premiumVendor, Seller, signInToPortal } from '../reseller.ts'
import {
  addAuthenticator,
  atHostName,
  codeOf,
  forgetCodes,
  forgetProofs,
  saveRecoveryCodes,
  setUpApp,
} from '../second-factor.ts'
import {
  dialog,
  enter,
  expectToast,
  heading,
  navigate,
  readClipboard,
  rowAction,
  signIn,
  Vendor,
} from '../steps.ts'

const security = '/profile/security'

test('an authenticator app is set up with a QR code, and sign-in then asks for its code @phone', async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/profile')
  await page.getByRole('link', { name: 'Security Settings' }).click()
  await expect(heading(page, 'Security')).toBeVisible()
  await expect(page.getByText('This device')).toBeVisible()
  await expectStateAccessible(page, 'security without a factor')
  const { secret } = await setUpApp(page, keyward)
  await expect(page.getByText('10 left')).toBeVisible()
  await expectStateAccessible(page, 'security with an app')

  await page.evaluate('localStorage.clear()')
  await page.goto('/auth')
  await signIn(page, vendor)
  const code = page.getByLabel('Code', { exact: true })
  await expect(code).toBeFocused()
  await expect(code).toHaveAttribute('autocomplete', 'one-time-code')
  await expectAccessible(page, 'the second step')
  await code.fill('000000')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert')).toHaveText('This code is not correct')
  await code.fill(codeOf(secret))
  await page.keyboard.press('Enter')
  await expectToast(page, 'Login Successful')
  await expect(page).toHaveURL('/dashboard')

  await page.goto(security)
  forgetCodes(keyward)

  await page.getByRole('button', { name: 'Turn off the authenticator app' }).click()
  const turnOff = dialog(page, 'Turn Off the Authenticator App')
  await turnOff.getByLabel('Code', { exact: true }).fill(codeOf(secret))
  await turnOff.getByRole('button', { name: 'Turn Off' }).click()
  await expectToast(page, 'Authenticator app removed')
  await expect(page.getByRole('button', { name: 'Set up an authenticator app' })).toBeVisible()
})

test('recovery codes are copied, and their dialog asks before it closes unsaved', { tag: '@full' }, async ({
  page,
  request,
}) => {
  await enter(page, await Vendor.signUp(request), security)
  await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
  const form = dialog(page, 'Set Up an Authenticator App')
  await form.getByLabel('Code', { exact: true }).fill('000000')
  await form.getByRole('button', { name: 'Turn On' }).click()
  await expect(form.getByRole('alert')).toHaveText('This code is not correct')
  const secret = (await form.locator('code').textContent()) ?? ''
  await form.getByLabel('Code', { exact: true }).fill(codeOf(secret))
  await form.getByRole('button', { name: 'Turn On' }).click()
  const codes = dialog(page, 'Save Your Recovery Codes')
  await codes.getByRole('button', { name: 'Copy recovery codes' }).click()
  const first = (await codes.getByRole('listitem').first().textContent()) ?? ''
  await expect.poll(() => readClipboard(page)).toContain(first)
  await page.keyboard.press('Escape')
  await dialog(page, 'Close the recovery codes?').getByRole('button', { name: 'Back' }).click()
  await saveRecoveryCodes(page)
})

test('a second step that took too long returns to the first one', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, security)
  const { secret, recoveryCodes } = await setUpApp(page, keyward)
  await page.evaluate('localStorage.clear()')
  await page.goto('/auth')
  await page.route('**/api/auth/second-factor', (route) =>
    route.fulfill({ status: 401, json: { success: false, code: 'challenge_ended', message: 'Too late' } }),
  )
  await signIn(page, vendor)
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret))
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByRole('alert')).toHaveText('The second step took too long. Please sign in again.')
  await expect(page.getByLabel('Email')).toHaveValue(vendor.email)

  await page.unroute('**/api/auth/second-factor')
  await page.route('**/api/auth/second-factor', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '840' },
      json: { success: false, code: 'rate_limited', message: 'Too many attempts' },
    }),
  )
  await signIn(page, vendor)
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret))
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByRole('alert')).toHaveText('Too many attempts. Please try again in 14 minutes.')

  await test.step('a recovery code is used in place of the code, once', async () => {
    await page.unroute('**/api/auth/second-factor')
    await page.getByRole('button', { name: 'Use a Recovery Code' }).click()
    await page.getByLabel('Recovery code').fill(recoveryCodes[0]!.toLowerCase())
    await page.getByRole('button', { name: 'Continue' }).click()
    await expect(page).toHaveURL('/dashboard')
    await page.goto(security)
    await expect(page.getByText('9 left')).toBeVisible()
  })
})

test('a passkey is a second factor, and signs in alone', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  const url = atHostName(keyward.url)
  await addAuthenticator(page)
  await enter(page, vendor, url + security)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  const form = dialog(page, 'Add a Passkey')
  await form.getByLabel('Name').fill('Laptop')
  await form.getByRole('button', { name: 'Continue' }).click()
  await saveRecoveryCodes(page)
  await expect(page.getByRole('list', { name: 'Passkeys' })).toContainText('Laptop')
  await expect(page.getByText('not used yet')).toBeVisible()
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await form.getByRole('button', { name: 'Continue' }).click()
  await expect(form.getByRole('alert')).toHaveText('This device has a passkey of your account already.')
  await form.getByRole('button', { name: 'Cancel' }).click()

  await page.evaluate('localStorage.clear()')
  await page.goto(`${url}/auth`)
  await signIn(page, vendor)
  const use = page.getByRole('button', { name: 'Use Passkey' })
  await expect(use).toBeFocused()
  await use.click()
  await expect(page).toHaveURL(`${url}/dashboard`)

  await page.evaluate('localStorage.clear()')
  await page.goto(`${url}/auth`)
  await expectStateAccessible(page, 'sign-in with a passkey')
  await page.getByRole('button', { name: 'Sign in with a Passkey' }).click()
  await expectToast(page, 'Login Successful')
  await page.goto(url + security)
  await expect(page.getByText(/last used/).first()).toBeVisible()
  await page.getByRole('button', { name: 'Remove the passkey Laptop' }).click()
  await dialog(page, 'Remove Passkey').getByRole('button', { name: 'Remove' }).click()
  await expectToast(page, 'Passkey removed')
  await expect(page.getByRole('list', { name: 'Passkeys' })).toHaveCount(0)
})

test('sessions are listed with their browsers and end one by one or all at once', {
  tag: ['@full', '@phone'],
}, async ({ page, request, browser, keyward }) => {
  const vendor = await Vendor.signUp(request)
  const elsewhere = await (await browser.newContext({ baseURL: keyward.url })).newPage()
  await elsewhere.goto('/auth')
  await signIn(elsewhere, vendor)
  await expect(elsewhere).toHaveURL('/dashboard')

  await enter(page, vendor, security)
  const rows = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')
  await expect(rows).toHaveCount(2)
  await expect(rows.first()).toContainText('This device')
  await expect(rows.nth(1)).toContainText('Chrome on')
  await rows
    .nth(1)
    .getByRole('button', { name: /^End the session of Chrome/ })
    .click()
  await expectToast(page, 'Session ended')
  await expect(rows).toHaveCount(1)
  await elsewhere.reload()
  await expect(elsewhere).toHaveURL('/auth')

  await signIn(elsewhere, vendor)
  await expect(elsewhere).toHaveURL('/dashboard')
  await page.reload()
  await page.getByRole('button', { name: 'End All Others' }).click()
  await dialog(page, 'End All Other Sessions').getByRole('button', { name: 'End Sessions' }).click()
  await expect(rows).toHaveCount(1)
  await elsewhere.reload()
  await expect(elsewhere).toHaveURL('/auth')
  await elsewhere.context().close()
})

test('an old session confirms who it is before it changes factors, and a cancel leaves the page', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, security)
  await expect(page.getByText('This device')).toBeVisible()
  forgetProofs(keyward)
  const setUp = page.getByRole('button', { name: 'Set up an authenticator app' })
  const confirm = dialog(page, 'Confirm that it is you')
  await setUp.click()
  await expect(confirm.getByLabel('Password', { exact: true })).toBeFocused()
  await expectAccessible(page, 'confirm identity')
  await page.keyboard.press('Escape')
  await expect(confirm).toHaveCount(0)
  await expect(page.locator('[data-sonner-toast]')).toHaveCount(0)
  await expect(setUp).toBeEnabled()

  await setUp.click()
  await confirm.getByLabel('Password', { exact: true }).fill('not the password')
  await page.keyboard.press('Enter')
  await expect(confirm.getByRole('alert')).toBeVisible()
  await confirm.getByLabel('Password', { exact: true }).fill(vendor.password)
  await page.keyboard.press('Enter')
  await expect(confirm).toHaveCount(0)
  const app = dialog(page, 'Set Up an Authenticator App')
  const secret = (await app.locator('code').textContent()) ?? ''
  forgetProofs(keyward)
  await app.getByLabel('Code', { exact: true }).fill(codeOf(secret))
  await page.keyboard.press('Enter')
  await confirm.getByLabel('Password', { exact: true }).fill(vendor.password)
  await page.keyboard.press('Enter')
  await saveRecoveryCodes(page)

  forgetProofs(keyward)
  forgetCodes(keyward)
  await page.getByRole('button', { name: 'Turn off the authenticator app' }).click()
  const turnOff = dialog(page, 'Turn Off the Authenticator App')
  // The code that proves who it is works before the one of the dialog.
  const [proof, later] = [codeOf(secret), codeOf(secret, 1)]
  await turnOff.getByLabel('Code', { exact: true }).fill(later)
  await turnOff.getByRole('button', { name: 'Turn Off' }).click()
  await confirm.getByLabel('Code', { exact: true }).fill(proof)
  await page.keyboard.press('Enter')
  await expectToast(page, 'Authenticator app removed')
})

test('a reseller has a second factor and sessions of its own, and the vendor resets the factor', {
  tag: ['@full', '@phone'],
}, async ({ page, request, keyward, browser }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app)
  await enterPortal(page, await Seller.signIn(request, reseller), '/reseller/profile')
  await page.getByRole('link', { name: 'Security Settings' }).click()
  await expect(page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')).toHaveCount(1)
  forgetProofs(keyward)
  await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
  const confirm = dialog(page, 'Confirm that it is you')
  await confirm.getByLabel('Password', { exact: true }).fill(reseller.password)
  await page.keyboard.press('Enter')
  await expect(confirm).toHaveCount(0)
  const form = dialog(page, 'Set Up an Authenticator App')
  const secret = (await form.locator('code').textContent()) ?? ''
  await form.getByLabel('Code', { exact: true }).fill(codeOf(secret))
  await form.getByRole('button', { name: 'Turn On' }).click()
  await saveRecoveryCodes(page)
  forgetCodes(keyward)
  await expectAccessible(page, 'security of the portal')

  await page.evaluate('localStorage.clear()')
  await page.goto('/reseller/auth')
  await signInToPortal(page, reseller)
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret))
  await page.getByRole('button', { name: 'Continue' }).click()
  await expectToast(page, 'Welcome to your reseller portal!')

  const owner = await (await browser.newContext({ baseURL: keyward.url })).newPage()
  await enter(owner, vendor, '/resellers')
  await rowAction(owner, reseller.email, 'Reset Second Factor')
  await dialog(owner, 'Reset Second Factor').getByRole('button', { name: 'Reset' }).click()
  await dialog(owner, 'Confirm that it is you').getByLabel('Password', { exact: true }).fill(vendor.password)
  await owner.keyboard.press('Enter')
  await expectToast(owner, 'Second factor reset')
  await owner.context().close()
  await page.goto('/reseller/auth')
  await signInToPortal(page, reseller)
  await expect(page).toHaveURL('/reseller/dashboard')
})

test('a member without a second factor sets one up once the owner requires it', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, security)
  await page.getByLabel('Require a second factor of members').click()
  await expectToast(page, 'Settings updated successfully')
  expect((await vendor.call('GET', '/settings')).requireSecondFactor).toBe(true)

  // What the server answers to a member; this owner stands in for one.
  await page.route('**/api/apps', (route) =>
    route.fulfill({
      status: 403,
      json: { success: false, code: 'second_factor_required', message: 'Add a second factor first' },
    }),
  )
  await page.goto('/dashboard')
  await expect(page.getByText('Set up a second factor first')).toBeVisible()
  await expectAccessible(page, 'a second factor is required')
  await page.getByRole('link', { name: 'Set Up' }).click()
  await expect(heading(page, 'Security')).toBeVisible()
  await page.unroute('**/api/apps')
  await setUpApp(page, keyward)
  await navigate(page, 'Dashboard')
  await expect(heading(page, /^Welcome/)).toBeVisible()
})

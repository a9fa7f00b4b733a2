import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import {
  enter,
  expectToast,
  heading,
  mainNavigation,
  navigate,
  openMenu,
  storedToken,
  storeToken,
  unique,
  Vendor,
} from '../steps.ts'

const ownerPages = ['/dashboard', '/licenses', '/users', '/profile', '/settings']

const email = (page: Page) => page.getByLabel('Email')
const password = (page: Page) => page.getByLabel('Password', { exact: true })
const signIn = (page: Page) => page.getByRole('button', { name: 'Sign In' })
const signUp = (page: Page) => page.getByRole('button', { name: 'Sign Up' })

async function fillSignIn(page: Page, vendor: Pick<Vendor, 'email' | 'password'>) {
  await email(page).fill(vendor.email)
  await password(page).fill(vendor.password)
}

async function fillSignUp(page: Page, as: { name?: string; email: string; password?: string }) {
  const { name = 'Nora New', password: chosen = 'correct horse battery' } = as
  await page.getByLabel('Full Name').fill(name)
  await email(page).fill(as.email)
  await password(page).fill(chosen)
  await page.getByLabel('Confirm Password').fill(chosen)
}

/** Records the calls to a path. */
function calls(page: Page, path: string) {
  const made: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith(path)) made.push(request.method())
  })
  return made
}

test.describe('sign in', () => {
  test('opens the dashboard, stores the token and shows a message', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request, 'Ida Inn')
    await page.goto('/auth')
    await expect(signIn(page)).toBeVisible()
    await test.step('shows the same message for a wrong password and an unknown email, and stores nothing', async () => {
      await storeToken(page, 'left over')
      for (const wrong of [
        { email: vendor.email, password: 'not the password' },
        { email: `${unique('nobody')}@example.com`, password: 'not the password' },
      ]) {
        await fillSignIn(page, wrong)
        await signIn(page).click()
        await expectToast(page, 'Login Failed', 'Invalid credentials. Please try again.')
        await expect(page.getByText('Session Expired')).toHaveCount(0)
      }
      expect(await storedToken(page)).toBeNull()
      await expect(page).toHaveURL('/auth')
    })
    await test.step("shows the server's message for any other failure", async () => {
      const answers = [
        { status: 500, json: { success: false, message: 'The cellar is flooded' } },
        {
          status: 400,
          json: { success: false, message: 'Invalid', errors: [{ msg: 'First' }, { message: 'Second' }] },
        },
        { status: 502, body: '' },
      ]
      await page.route('**/api/auth/login', (route) => route.fulfill(answers.shift()))
      await fillSignIn(page, { email: 'vera@example.com', password: 'whatever' })
      for (const text of ['The cellar is flooded', 'First, Second', 'HTTP error! status: 502']) {
        await signIn(page).click()
        await expectToast(page, 'Login Failed', text)
      }
      await page.unroute('**/api/auth/login')
      await fillSignIn(page, { email: '', password: '' })
    })
    const made = calls(page, '/api/auth/login')
    await test.step('does nothing while email or password is empty', async () => {
      await expect(page.getByRole('tab')).toHaveText(['Sign In', 'Sign Up'])
      await signIn(page).click()
      await email(page).fill(vendor.email)
      await signIn(page).click()
      await email(page).fill('')
      await password(page).fill(vendor.password)
      await signIn(page).click()
    })
    await email(page).fill(vendor.email)
    await signIn(page).click()
    await expectToast(page, 'Login Successful')
    expect(made).toHaveLength(1)
    await expect(page).toHaveURL('/dashboard')
    await expect(heading(page, 'Welcome, Ida Inn')).toBeVisible()
    expect(await storedToken(page)).toBeTruthy()
  })

  test('shows and hides the password', { tag: '@full' }, async ({ page }) => {
    await page.goto('/auth')
    await password(page).fill('secret text')
    await expect(password(page)).toHaveAttribute('type', 'password')
    await page.getByRole('button', { name: 'Show password' }).click()
    await expect(password(page)).toHaveAttribute('type', 'text')
    await page.getByRole('button', { name: 'Hide password' }).click()
    await expect(password(page)).toHaveAttribute('type', 'password')
  })
})

test.describe('sign up', () => {
  test('requires a name, an email and a password of 6 characters', { tag: '@full' }, async ({ page }) => {
    const made = calls(page, '/api/auth/register')
    await page.goto('/auth?tab=sign-up')
    await signUp(page).click()
    await expect(page.getByText('Name is required')).toBeVisible()
    await expect(page.getByText('Please enter a valid email address')).toBeVisible()
    await expect(page.getByText('Password must have at least 6 characters')).toBeVisible()

    await fillSignUp(page, { name: 'Nora New', email: 'not an address', password: '12345' })
    await signUp(page).click()
    await expect(page.getByText('Name is required')).toBeHidden()
    await expect(page.getByText('Please enter a valid email address')).toBeVisible()
    await expect(page.getByText('Password must have at least 6 characters')).toBeVisible()
    expect(made).toHaveLength(0)
  })

  test('accepts six characters, signs in and shows a welcome', async ({ page }) => {
    await page.goto('/auth')
    await page.getByRole('tab', { name: 'Sign Up' }).click()
    await test.step('is disabled while the passwords differ', async () => {
      await fillSignUp(page, { email: 'nora@example.com' })
      await expect(signUp(page)).toBeEnabled()
      await page.getByLabel('Confirm Password').fill('something else')
      await expect(page.getByText('Passwords do not match')).toBeVisible()
      await expect(signUp(page)).toBeDisabled()
      await page.getByLabel('Confirm Password').fill('correct horse battery')
      await expect(page.getByText('Passwords do not match')).toBeHidden()
      await expect(signUp(page)).toBeEnabled()
    })
    await test.step('measures the password and warns about common ones', async () => {
      await password(page).fill('password1')
      await expect(page.getByText('Weak')).toBeVisible()
      await expect(page.getByText('one of the most common passwords')).toBeVisible()
      await password(page).fill('Sturdy-7-Bridges!')
      await expect(page.getByText('Strong')).toBeVisible()
      await expect(page.getByText('one of the most common passwords')).toBeHidden()
    })
    const nora = { email: `${unique('nora')}@example.com`, password: 'kT4-x9' }
    await fillSignUp(page, nora)
    await signUp(page).click()
    await expectToast(page, 'Registration Successful')
    await expect(page).toHaveURL('/dashboard')
    await expect(heading(page, 'Welcome, Nora New')).toBeVisible()
    expect(await storedToken(page)).toBeTruthy()

    await test.step('removes an invalid token silently, and returns after sign-in', async () => {
      await storeToken(page, 'dead-token')
      await page.goto('/settings')
      await expect(page).toHaveURL('/auth')
      await expect(signIn(page)).toBeVisible()
      expect(await storedToken(page)).toBeNull()
      await expect(page.locator('[data-sonner-toast]')).toHaveCount(0)
      await fillSignIn(page, nora)
      await signIn(page).click()
      await expect(page).toHaveURL('/settings')
    })

    await test.step('landing and sign-in redirect signed-in owners to the dashboard', async () => {
      for (const path of ['/', '/landing', '/auth']) {
        await page.goto(path)
        await expect(page).toHaveURL('/dashboard')
      }
    })
  })

  test('reports a taken email, and keeps it for the sign-in tab', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await page.goto('/auth?tab=sign-up')
    await fillSignUp(page, { email: vendor.email.toUpperCase() })
    await signUp(page).click()
    await expectToast(page, 'Email Already Registered')
    expect(await storedToken(page)).toBeNull()
    await page.getByRole('tab', { name: 'Sign In' }).click()
    // Until then the fields are those of the other tab.
    await expect(signIn(page)).toBeVisible()
    await expect(email(page)).toHaveValue(vendor.email.toUpperCase())
    await password(page).fill(vendor.password)
    await signIn(page).click()
    await expectToast(page, 'Login Successful')

    await test.step('log-out ends the session on the server, and Back does not restore it', async () => {
      const session = Vendor.as(request, { ...vendor, token: (await storedToken(page)) ?? '' })
      await navigate(page, 'Profile')
      await expect(heading(page, 'Profile')).toBeVisible()
      await openMenu(page)
      const revoked = page.waitForResponse('**/api/auth/logout')
      await mainNavigation(page).getByRole('button', { name: 'Log Out' }).click()
      await expectToast(page, 'Logged Out')
      await expect(page).toHaveURL('/auth')
      expect(await storedToken(page)).toBeNull()
      await revoked
      await expect(session.call('GET', '/auth/profile')).rejects.toThrow('401')
      await page.goBack()
      await expect(page).toHaveURL('/auth')
      await expect(signIn(page)).toBeVisible()
      await page.goto('/auth')
      await fillSignIn(page, vendor)
      await signIn(page).click()
      await expect(page).toHaveURL('/dashboard')
    })
  })

  test("shows the server's message for any other failure", { tag: '@full' }, async ({ page }) => {
    const answers = [
      { status: 500, json: { success: false, message: 'The cellar is flooded' } },
      { status: 502, body: '' },
    ]
    await page.route('**/api/auth/register', (route) => route.fulfill(answers.shift()))
    await page.goto('/auth?tab=sign-up')
    await fillSignUp(page, { email: 'nora@example.com' })
    for (const text of ['The cellar is flooded', 'HTTP error! status: 502']) {
      await signUp(page).click()
      await expectToast(page, 'Registration Failed', text)
    }
    await page.getByRole('tab', { name: 'Sign In' }).click()
    await expect(email(page)).toHaveValue('nora@example.com')
  })
})

test.describe('guard', () => {
  test('redirects every owner page to sign-in when signed out', { tag: '@full' }, async ({ page }) => {
    for (const path of ownerPages) {
      await page.goto(path)
      await expect(page).toHaveURL('/auth')
      await expect(signIn(page)).toBeVisible()
    }
  })

  test('sign-in returns to the requested page with its filters', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await page.goto('/licenses?status=unused&search=blue')
    await expect(page).toHaveURL('/auth')
    await fillSignIn(page, vendor)
    await signIn(page).click()
    await expect(page).toHaveURL('/licenses?status=unused&search=blue')
    await expect(page.getByRole('searchbox')).toHaveValue('blue')
  })

  test('sign-up returns to the requested page', { tag: '@full' }, async ({ page }) => {
    await page.goto('/settings')
    await page.getByRole('tab', { name: 'Sign Up' }).click()
    await fillSignUp(page, { email: `${unique('nora')}@example.com` })
    await signUp(page).click()
    await expect(page).toHaveURL('/settings')
  })
})

test.describe('session', () => {
  test('shows Session Expired when the token expires while the console is open', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor)
    await expect(page.getByRole('button', { name: 'Actions for Tally' })).toBeVisible()
    // The event stream ends with its session, so the console needs no input.
    await vendor.call('POST', '/auth/logout')
    await expectToast(page, 'Session Expired', 'Your session has expired. Please log in again.')
    await expect(page).toHaveURL('/auth')
    expect(await storedToken(page)).toBeNull()
  })

  test('says only that the session has expired when a dialog is saved too late', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const license = (await vendor.createLicenses(await vendor.createApp()))[0]!
    await page.route('**/api/events', (route) => route.abort())
    await enter(page, vendor, `/licenses?dialog=edit-license&id=${license._id}`)
    const edit = page.getByRole('dialog')
    await edit.getByLabel('Note').fill('typed too late')
    await vendor.call('POST', '/auth/logout')
    await edit.getByRole('button', { name: 'Save License' }).click()
    await expect(page).toHaveURL('/auth')
    await expect(page.locator('[data-sonner-toast]')).toHaveText(/Session Expired/)
    await fillSignIn(page, vendor)
    await signIn(page).click()
    await expect(edit.getByLabel('Note')).toHaveValue('typed too late')
  })

  test('log-out in one tab logs out the others', { tag: '@full' }, async ({ page, context, request }) => {
    const vendor = await Vendor.signUp(request)
    await enter(page, vendor)
    const other = await context.newPage()
    await other.goto('/settings')
    await expect(heading(other, 'Settings')).toBeVisible()
    await openMenu(page)
    await mainNavigation(page).getByRole('button', { name: 'Log Out' }).click()
    await expect(other).toHaveURL('/auth')
  })
})

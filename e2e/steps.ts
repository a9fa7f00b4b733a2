import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { APIRequestContext, Locator, Page } from '@playwright/test'
import { expect, type Keyward } from './keyward.ts'

export const tokenKey = 'keyward-owner-token'
const day = 24 * 60 * 60 * 1000

let count = 0
/** A word that is unique in this run. */
export const unique = (word: string) => `${word}-${process.pid}-${count++}-${Date.now().toString(36)}`

export interface App {
  _id: string
  name: string
  appId: string
  appSecret: string
  version: string
}
export interface License {
  _id: string
  key: string
  expiresAt: string
}
export interface EndUser {
  _id: string
  username: string
  expiresAt: string
  hwid: string | null
}
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A vendor who calls the server directly, to set up data for a journey. */
export class Vendor {
  readonly name: string
  readonly email: string
  readonly password: string
  readonly token: string
  private readonly request: APIRequestContext

  private constructor(
    request: APIRequestContext,
    facts: { name: string; email: string; password: string; token: string },
  ) {
    this.request = request
    this.name = facts.name
    this.email = facts.email
    this.password = facts.password
    this.token = facts.token
  }

  static async signUp(
    request: APIRequestContext,
    name = 'Vera Vendor',
    email = `${unique('vendor')}@example.com`,
  ) {
    const password = unique('long-enough')
    const answer = await request.post('/api/auth/register', { data: { name, email, password } })
    expect(answer.status()).toBe(201)
    return new Vendor(request, { name, email, password, token: (await answer.json()).data.token })
  }

  /** A person who has signed up by other means. */
  static as(
    request: APIRequestContext,
    facts: { name: string; email: string; password: string; token: string },
  ) {
    return new Vendor(request, facts)
  }

  async call(method: Method, path: string, data?: unknown) {
    const answer = await this.request.fetch(`/api${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}` },
      ...(data === undefined ? {} : { data }),
    })
    const body = await answer.json()
    if (!body.success) throw new Error(`${method} ${path}: ${answer.status()} ${body.message}`)
    return body.data
  }

  async createApp(name = 'Tally'): Promise<App> {
    return (await this.call('POST', '/apps', { name })).app
  }

  async createLicenses(app: App, amount = 1, days = 30): Promise<License[]> {
    const expiresAt = new Date(Date.now() + days * day).toISOString()
    return (await this.call('POST', '/licenses', { app: app._id, count: amount, expiresAt })).licenses
  }

  async createEndUser(app: App, username: string, days = 30): Promise<EndUser> {
    const expiresAt = new Date(Date.now() + days * day).toISOString()
    const user = { username, password: 'end-user-password', appId: app._id, expiresAt }
    return (await this.call('POST', '/clients/create-direct', user)).client
  }
}

/** Calls of a vendor's program without signature checks, which the SDK's tests cover. */
export class Program {
  private readonly request: APIRequestContext
  private readonly app: App
  private readonly session: string

  private constructor(request: APIRequestContext, app: App, session: string) {
    this.request = request
    this.app = app
    this.session = session
  }

  static async start(request: APIRequestContext, app: App, locale?: string) {
    const { body } = await Program.init(request, app, locale)
    return new Program(request, app, body.data.session)
  }

  static async init(request: APIRequestContext, app: App, locale?: string) {
    const data = { appId: app.appId, secret: app.appSecret, version: app.version, locale }
    const answer = await request.post('/api/client/init', { data })
    return { status: answer.status(), body: await answer.json() }
  }

  async call(method: 'GET' | 'POST' | 'DELETE', path: string, data?: unknown) {
    const answer = await this.request.fetch(`/api/client${path}`, {
      method,
      headers: { authorization: `Bearer ${this.session}`, 'keyward-app': this.app.appId },
      ...(data === undefined ? {} : { data }),
    })
    return { status: answer.status(), body: await answer.json() }
  }

  async register(username: string, license: License, hwid?: string) {
    const data = { username, password: 'end-user-password', licenseKey: license.key, hwid }
    const { status, body } = await this.call('POST', '/register', data)
    expect(status, JSON.stringify(body)).toBeLessThan(300)
  }

  login(username: string, hwid?: string) {
    return this.call('POST', '/login', { username, password: 'end-user-password', hwid })
  }
}

/** Sets the plan to premium, as a payment does. */
export function makePremium(keyward: Keyward, vendor: Vendor, days = 30) {
  const database = new DatabaseSync(join(keyward.dataDir, 'keyward.db'), { timeout: 5000 })
  database
    .prepare(
      'update owners set premium_until = ? where account_id = (select id from accounts where email = ?)',
    )
    .run(Date.now() + days * day, vendor.email)
  database.close()
}

/** Stores the vendor's token and opens a page of the console. */
export async function enter(page: Page, vendor: Vendor, path = '/dashboard') {
  const once = `entered ${vendor.token}`
  await page.addInitScript(`
    if (location.protocol === 'http:' && !sessionStorage.getItem(${JSON.stringify(once)})) {
      sessionStorage.setItem(${JSON.stringify(once)}, 'yes')
      localStorage.setItem('${tokenKey}', ${JSON.stringify(vendor.token)})
    }
  `)
  await page.goto(path)
}

/** Points at something, and waits for what shows messages: it loads with the first gesture, and is there offline from then on. */
export async function touch(where: Locator) {
  const page = where.page()
  let isLoaded = false
  page.on('requestfinished', (sent) => {
    isLoaded ||= sent.url().includes('/toaster-')
  })
  // The page listens for gestures a moment after it is shown.
  await expect
    .poll(async () => {
      await page.mouse.move(0, 0)
      await where.hover()
      return isLoaded
    })
    .toBe(true)
}

/** Ends the session on the server, as an expiry does, and waits for the sign-in page. */
export async function endSession(page: Page) {
  await page.evaluate(
    `fetch('/api/auth/logout', { method: 'POST', headers: { authorization: 'Bearer ' + localStorage.getItem('${tokenKey}') } })`,
  )
  await expect(page).toHaveURL('/auth')
}

/** Fills in the sign-in page. */
export async function signIn(page: Page, { email, password }: { email: string; password: string }) {
  // The prerendered page is inert until its scripts are loaded.
  const form = page.locator('#root:not([inert])')
  await form.getByLabel('Email').fill(email)
  await form.getByLabel('Password', { exact: true }).fill(password)
  await form.getByRole('button', { name: 'Sign In', exact: true }).click()
}

/**
 * Opens a page inside the running console and waits until it replaces the one before. A full load takes many times as
 * long; pages.spec.ts loads the pages that way. /subscription is entered and left by a full load.
 */
export async function visit(page: Page, path: string) {
  if ([page.url(), path].some((of) => of.includes('/subscription'))) {
    await page.goto(path)
    return
  }
  // Every page sets its title when it appears.
  await page.evaluate(`{
    const from = location.pathname
    history.pushState({}, '', ${JSON.stringify(path)})
    if (location.pathname !== from) document.title = ''
    dispatchEvent(new PopStateEvent('popstate'))
  }`)
  await expect(page).toHaveTitle(/./)
}

export const storeToken = (page: Page, token: string) =>
  page.evaluate(`localStorage.setItem('${tokenKey}', ${JSON.stringify(token)})`)

export const storedToken = (page: Page) => page.evaluate<string | null>(`localStorage.getItem('${tokenKey}')`)

export const readClipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

export const isPhone = (page: Page) => (page.viewportSize()?.width ?? 1280) < 768

/** Follows a sidebar entry; on phones the sidebar is in a sheet. */
export async function navigate(page: Page, entry: string) {
  await openMenu(page)
  await mainNavigation(page).getByRole('link', { name: entry, exact: true }).click()
}

export const mainNavigation = (page: Page) => page.getByRole('navigation', { name: 'Main' })

export async function openMenu(page: Page) {
  if (isPhone(page)) await page.getByRole('button', { name: 'Open menu' }).click()
  await expect(mainNavigation(page)).toBeVisible()
}

/**
 * Expects a toast and closes it, so that the next one with the same text is distinguishable. It may be covered by a newer
 * toast, or disappear in the meantime.
 */
export async function expectToast(page: Page, title: string, description?: string) {
  const toast = page
    .locator('[data-sonner-toast]')
    .filter({ has: page.getByText(title, { exact: true }) })
    .filter(description ? { has: page.getByText(description, { exact: true }) } : {})
  await expect(toast).toHaveCount(1)
  const close = toast.getByRole('button', { name: 'Close toast' })
  await close.dispatchEvent('click', {}, { timeout: 1000 }).catch(() => {})
  await expect(toast).toHaveCount(0)
}

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })

/** A part of a page, by its heading. */
export const part = (page: Page, name: string | RegExp): Locator => page.getByRole('region', { name })

export const dialog = (page: Page, name: string | RegExp) =>
  page.getByRole('dialog', { name }).or(page.getByRole('alertdialog', { name }))

/** The table row that contains a text; a card on phones. */
export const row = (page: Page, text: string | RegExp) => page.getByRole('row').filter({ hasText: text })

/** The rows of the page's list. */
export const rows = (page: Page) => page.getByRole('main').locator('tbody').getByRole('row')

export async function rowAction(page: Page, of: string, action: string) {
  await page.getByRole('button', { name: `Actions for ${of}` }).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

/** Pauses an app of a list or of its page, and confirms it. */
export async function pauseApp(page: Page, name: string) {
  await rowAction(page, name, 'Pause App')
  await dialog(page, `Pause ${name}?`).getByRole('button', { name: 'Pause App' }).click()
}

/** Pauses all applications on the page of settings, and confirms it. */
export async function pauseAll(page: Page) {
  await page.getByRole('switch', { name: 'Pause Applications' }).click()
  const question = dialog(page, 'Pause all applications?')
  await question.getByRole('button', { name: 'Pause Applications' }).click()
}

export async function choose(scope: Page | Locator, label: string, option: string | RegExp) {
  const page = 'page' in scope ? scope.page() : scope
  await scope.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

/** Shows the filters of a list, which are behind a button on phones. */
export async function openFilters(page: Page) {
  if (isPhone(page)) await page.getByRole('button', { name: /^Filters/ }).click()
}

export const addApp = (page: Page) => page.getByRole('button', { name: 'Add App' })

/** Opens the command palette by its shortcut, and waits for what loads after the page. */
export async function openPalette(page: Page) {
  await expect(async () => {
    await page.keyboard.press('Control+k')
    await expect(dialog(page, 'Search or go to')).toBeVisible({ timeout: 1000 })
  }).toPass()
  await expect(page.getByRole('combobox', { name: 'Search or go to' })).toBeFocused()
  await expect(page.getByRole('listbox', { name: 'Commands and results' })).toBeVisible()
}

/** Chooses an entry of a list's menu for import and export. */
export async function moreAction(page: Page, action: string) {
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

/** A value of a list of facts. */
export const fact = (page: Page, term: string) =>
  page
    .getByRole('main')
    .locator('dl > div')
    .filter({ has: page.getByText(term, { exact: true }) })
    .locator('dd')

/** The statistic with a label at the top of a page. */
export const figure = (page: Page, name: string) =>
  page
    .getByRole('main')
    .locator('section:not(:has(section))')
    .filter({ has: page.getByText(name, { exact: true }) })
    .first()

export const keyPrefix = (key: string) => `${key.slice(0, 16)}…`

/** A date in the console's format; the browser uses UTC. */
export const shownDate = (value: number | string | Date) =>
  new Intl.DateTimeFormat('en-US', {
    month: 'short',
    day: '2-digit',
    year: 'numeric',
    timeZone: 'UTC',
  }).format(new Date(value))

export const inDays = (days: number) => new Date(Date.now() + days * day)

/**
 * Waits for half a second and ten frames without a spinner, a skeleton or an inert page. It asks for few frames, because
 * drawing each takes time.
 */
export const settle = (page: Page) =>
  page.evaluate(`new Promise((done) => {
    let quiet = 0
    const next = () => setTimeout(() => requestAnimationFrame(check), 50)
    const check = () => {
      quiet = document.querySelector('.animate-pulse, .animate-spin, #root[inert]') ? 0 : quiet + 1
      if (quiet > 10) done()
      else next()
    }
    check()
  })`)

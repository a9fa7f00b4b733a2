import { execFileSync } from 'node:child_process'
import type { APIRequestContext, Page } from '@playwright/test'
import { quickestOf } from '../apps/server/test/server-process.ts'
import { expect, type Keyward } from './keyward.ts'
import { type App, makePremium, unique, Vendor } from './steps.ts'

const commandLine = quickestOf('src/cli.mjs')
const tokenKey = 'keyward-reseller-token'

/** Sets a vendor's plan with the operator's command. */
export function setPlan(keyward: Keyward, vendor: Vendor, plan: 'premium' | 'free') {
  execFileSync(process.execPath, [commandLine, 'plan', vendor.email, plan], {
    env: { ...process.env, DATA_DIR: keyward.dataDir },
  })
}

export interface Credentials {
  _id: string
  email: string
  password: string
}

/** A vendor with premium and an app. */
export async function premiumVendor(request: APIRequestContext, keyward: Keyward) {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  makePremium(keyward, vendor, 365)
  return { vendor, app }
}

export async function createReseller(vendor: Vendor, app: App, limit = 10): Promise<Credentials> {
  const email = `${unique('reseller')}@example.com`
  return vendor.call('POST', '/resellers', {
    email,
    password: unique('reseller-password'),
    app_id: app._id,
    allowed_license_keys: limit,
  })
}

/** A reseller who calls the server directly. */
export class Seller {
  readonly token: string
  private readonly request: APIRequestContext

  private constructor(request: APIRequestContext, token: string) {
    this.request = request
    this.token = token
  }

  static async signIn(request: APIRequestContext, { email, password }: Credentials) {
    const answer = await request.post('/api/resellers/auth/login', { data: { email, password } })
    expect(answer.status()).toBe(200)
    return new Seller(request, (await answer.json()).data.token)
  }

  async call(method: 'GET' | 'POST' | 'DELETE', path: string, data?: unknown) {
    const answer = await this.request.fetch(`/api/resellers/auth${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}` },
      ...(data === undefined ? {} : { data }),
    })
    const body = await answer.json()
    if (!body.success) throw new Error(`${method} ${path}: ${answer.status()} ${body.message}`)
    return body.data
  }

  async generate(count: number): Promise<{ _id: string; key: string; expiresAt: string }[]> {
    const expiresAt = new Date(Date.now() + 30 * 24 * 60 * 60 * 1000).toISOString()
    return (await this.call('POST', '/licenses', { count, expiresAt })).licenses
  }
}

/** Stores the reseller's token and opens a page of the portal. */
export async function enterPortal(page: Page, seller: Seller, path = '/reseller/dashboard') {
  await page.goto('/theme.js')
  await page.evaluate(`localStorage.setItem('${tokenKey}', ${JSON.stringify(seller.token)})`)
  await page.goto(path)
}

export const storedResellerToken = (page: Page) =>
  page.evaluate<string | null>(`localStorage.getItem('${tokenKey}')`)

/** Signs in on the portal's sign-in page. */
export async function signInToPortal(page: Page, { email, password }: Omit<Credentials, '_id'>) {
  // The prerendered page is inert until its scripts are loaded.
  const form = page.locator('#root:not([inert])')
  await form.getByLabel('Email').fill(email)
  await form.getByLabel('Password', { exact: true }).fill(password)
  await form.getByRole('button', { name: 'Sign In' }).click()
}

export const portalNavigation = (page: Page) => page.getByRole('navigation', { name: 'Main' })

/** The date in `days` as the value of a date field; the browser uses UTC. */
export const dayInput = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

// Fills a landed state through its own API with everything that it has.
import { execFileSync } from 'node:child_process'
import { callOver } from '../server-process.ts'
import type { Calls, Tokens } from './answers.ts'
import type { State } from './states.ts'

export interface App {
  _id: string
  appId: string
  appSecret: string
}
export interface Filled {
  tokens: Tokens
  app: App
  /** Unused keys of the app. */
  keys: string[]
  /** Whether everything has been sent to webhooks. */
  isDelivered(): Promise<boolean>
  seatKey: string
  bannedKey: string
  /** Keys that end users add, by what they are. */
  added: Record<'month' | 'year' | 'taken' | 'forever' | 'paused', SoldKey>
}

interface SoldKey {
  _id: string
  key: string
}

const pausedUser = 'Bea'
/** The first one has no license. */
export const pausedUsers = [pausedUser, 'Ida']
const day = 86_400_000
export const owner = { name: 'Vera Ærø', email: 'vera@example.com', password: 'correct horse' }
export const seller = { email: 'rita@example.com', password: 'sell them all' }
const inDays = (days: number): string => new Date(Date.now() + days * day).toISOString()

/** A vendor's account, with which everything is made. */
class Vendor {
  readonly token: string
  readonly #url: string
  readonly #calls: Calls

  constructor(url: string, calls: Calls, token: string) {
    this.#url = url
    this.#calls = calls
    this.token = token
  }

  /** Sends a call and returns its data; throws if it is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: what a state answers is read by its fields
  async make(method: string, path: string, body?: unknown): Promise<any> {
    const { status, json } = await callOver(this.#url, method, path, { token: this.token, body })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`)
    return json.data
  }

  /** Whether the state has a call. */
  has(method: string, path: string): boolean {
    return this.#calls[`/api${path}`]?.[method.toLowerCase()] !== undefined
  }
}

async function signUp(url: string, calls: Calls, body: object): Promise<Vendor> {
  const { status, json } = await callOver(url, 'POST', '/auth/register', { body })
  if (status !== 201) throw new Error(`The sign-up was refused: ${JSON.stringify(json)}`)
  return new Vendor(url, calls, json.data.token)
}

export async function fill(
  state: State,
  url: string,
  calls: Calls,
  environment: Record<string, string>,
  receiver: string,
): Promise<Filled> {
  const vendor = await signUp(url, calls, owner)
  const other = await signUp(url, calls, { ...owner, email: 'other@example.com' })
  execFileSync(process.execPath, [state.cli, 'plan', owner.email, 'premium'], { env: environment })
  const apps: App[] = []
  for (const name of ['Atlas', 'Été 𝄞']) apps.push((await vendor.make('POST', '/apps', { name })).app)
  await other.make('POST', '/apps', { name: 'Not of Vera' })
  const [app, second] = apps as [App, App]
  app.appSecret ??= (await vendor.make('GET', `/apps/${app._id}`)).app.appSecret
  await setUp(vendor, app)
  const sold = await sell(vendor, app, second)
  await addEndUsers(vendor, app)
  const reseller = await addReseller(url, calls, vendor, app)
  const apiKey = await addPeopleAndPrograms(vendor, app, receiver)
  const isDelivered = () => hasDelivered(vendor)
  return { tokens: { owner: vendor.token, reseller, apiKey }, app, isDelivered, ...sold }
}

async function setUp(vendor: Vendor, app: App): Promise<void> {
  const remembering = { rememberDays: 30, leaseHours: 48, graceHours: 24 }
  const settings = { ...remembering, deviceSelfService: true, allowCustomLicenseKey: true }
  const path = `/apps/${app._id}`
  await vendor.make('PUT', path, { settings })
  await vendor.make('PUT', `${path}/error-messages`, { keyUsed: 'Taken — “schon” benutzt' })
  await vendor.make('POST', `${path}/blocklist`, { kind: 'address', value: '203.0.113.0/24' })
  await vendor.make('POST', `${path}/blocklist`, { kind: 'hwid', value: 'a blocked machine' })
  await vendor.make('PUT', `${path}/program-hashes`, { hashes: [{ version: '1.0.0', hash: 'a'.repeat(64) }] })
  await vendor.make('PUT', `${path}/variables`, {
    variables: [
      { name: 'endpoint', value: 'https://api.example.com/?a=ü', public: true },
      { name: 'token', value: 'secret', public: false },
    ],
  })
  await vendor.make('POST', `${path}/releases`, { version: '1.2.0', releasedAt: '2026-03-01' })
  await vendor.make('POST', `${path}/signing-keys`)
  await vendor.make('PUT', '/settings', { hwidLock: true })
}

/** Licenses of every term. */
async function sell(
  vendor: Vendor,
  app: App,
  second: App,
): Promise<Pick<Filled, 'keys' | 'seatKey' | 'bannedKey' | 'added'>> {
  const generate = async (wanted: object) =>
    (await vendor.make('POST', '/licenses', { app: app._id, ...wanted })).licenses as SoldKey[]
  const types = [
    { name: 'For ever', term: 'forever', devices: 3, features: ['export', 'sync'] },
    { name: 'Month', term: 'date', duration: { value: 1, unit: 'months' }, graceDays: 7, updatesForDays: 90 },
    { name: 'Year from use', term: 'first_use', duration: { value: 1, unit: 'years' }, keyPrefix: 'YEAR' },
    { name: 'Floating', term: 'forever', devices: 50, seats: 2, seatTimeoutSeconds: 900, resellable: true },
    { name: 'Trial', term: 'first_use', duration: { value: 14, unit: 'days' }, trial: true },
  ]
  const typeIds: string[] = []
  for (const type of types)
    typeIds.push((await vendor.make('POST', `/apps/${app._id}/license-types`, type)).licenseType._id)
  const keys = (await generate({ expiresAt: inDays(400), count: 20, note: 'sold to Ærø' })).map(
    ({ key }) => key,
  )
  await generate({ expiresAt: null, key: 'CUSTOM-key_01', note: 'of choice' })
  await generate({ duration: { value: 36, unit: 'hours' }, count: 3 })
  for (const type of typeIds.slice(0, 3)) await generate({ type, count: 2 })
  const ofType = async (at: number) => (await generate({ type: typeIds[at] }))[0] as SoldKey
  const added = {
    ...{ month: await ofType(1), year: await ofType(2), taken: await ofType(2) },
    ...{ forever: await ofType(0), paused: await ofType(2) },
  }
  const [floating] = await generate({ type: typeIds[3] })
  const [banned, removed] = await generate({ expiresAt: inDays(30), count: 2 })
  await vendor.make('PATCH', `/licenses/${banned?._id}/toggle-ban`, { reason: 'chargeback' })
  await vendor.make('DELETE', `/licenses/${removed?._id}`)
  await vendor.make('PUT', `/apps/${second._id}`, { settings: { allowCustomLicenseKey: true } })
  const csv = `key,expiresAt,note\nIMPORT-0001,2031-01-01,one\nIMPORT-0002,2031-06-30,"two, quoted"`
  await vendor.make('POST', '/licenses/import', { app: second._id, csv })
  return { keys, seatKey: floating?.key ?? '', bannedKey: banned?.key ?? '', added }
}

async function addEndUsers(vendor: Vendor, app: App): Promise<void> {
  const ids: string[] = []
  for (const username of ['Ada', 'adam', pausedUser, 'Çem']) {
    const body = { username, password: 'swordfish', appId: app._id, expiresAt: inDays(90) }
    ids.push((await vendor.make('POST', '/clients/create-direct', body)).client._id)
  }
  const [ada, adam, bea] = ids
  await vendor.make('PATCH', `/clients/${adam}/toggle-ban`)
  await vendor.make('PATCH', `/clients/${bea}/toggle-pause`)
  await vendor.make('PATCH', `/clients/${ada}/extend`, { days: 10 })
  await vendor.make('PUT', `/clients/${ada}/variables`, { variables: [{ name: 'seat', value: '12' }] })
}

/** Returns the token of a reseller who has sold. */
async function addReseller(url: string, calls: Calls, vendor: Vendor, app: App): Promise<string> {
  await vendor.make('POST', '/resellers', { ...seller, app_id: app._id, allowed_license_keys: 10 })
  const { json } = await callOver(url, 'POST', '/resellers/auth/login', { body: seller })
  const reseller = new Vendor(url, calls, json.data.token)
  await reseller.make('POST', '/resellers/auth/licenses', { expiresAt: inDays(60), count: 2 })
  return reseller.token
}

/** Members, keys of the API and webhooks, of states that have them; returns the key. */
async function addPeopleAndPrograms(vendor: Vendor, app: App, receiver: string): Promise<string | undefined> {
  if (vendor.has('POST', '/members'))
    await vendor.make('POST', '/members', { email: 'mia@example.com', role: 'support', apps: [app._id] })
  if (vendor.has('PUT', '/settings/notifications'))
    await vendor.make('PUT', '/settings/notifications', { weeklySummary: true })
  if (vendor.has('POST', '/webhooks')) {
    const { webhook } = await vendor.make('POST', '/webhooks', { url: receiver, events: ['*'] })
    await vendor.make('POST', `/webhooks/${webhook._id}/test`)
  }
  if (!vendor.has('POST', '/api-keys')) return undefined
  const permissions = ['licenses:read', 'licenses:write']
  return (await vendor.make('POST', '/api-keys', { name: 'Build server', permissions })).key
}

async function hasDelivered(vendor: Vendor): Promise<boolean> {
  if (!vendor.has('GET', '/webhooks')) return true
  for (const { _id } of (await vendor.make('GET', '/webhooks')).webhooks) {
    const { deliveries } = await vendor.make('GET', `/webhooks/${_id}/deliveries`)
    if (deliveries.some(({ state }: { state: string }) => state !== 'delivered')) return false
  }
  return true
}

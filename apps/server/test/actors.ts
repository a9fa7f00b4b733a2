import { type ErrorCode, errorFacts } from '@keyward/contract'
import { expect } from 'vitest'
import { sha256 } from '../src/core/crypto.ts'
import type { Answer, CallOptions, TestServer } from './harness.ts'

let owners = 0

/** A signed-in owner. */
export interface Owner {
  token: string
  email: string
  password: string
  /** The vendor account's id. */
  id: string
  /** The person's id. */
  accountId: string
  call(method: string, path: string, body?: unknown): Promise<Answer>
}

export async function signUp(on: TestServer, name = `Owner ${owners + 1}`): Promise<Owner> {
  owners += 1
  const email = `owner${owners}@example.com`
  const password = 'correct horse'
  const { status, json } = await on.call('POST', '/auth/register', {
    body: { name, email, password },
  })
  expect(status).toBe(201)
  const { token, user } = json.data
  if (on.config.smtpUrl !== undefined) await trustMails(on, user.vendor._id, 1)
  return {
    token,
    email,
    password,
    id: user.vendor._id,
    accountId: user._id,
    call: (method, path, body) => on.call(method, path, { token, body }),
  }
}

/** Whether a vendor may mail buyers although its address is not confirmed. */
export async function trustMails(on: TestServer, id: string, trusted: 0 | 1): Promise<void> {
  await on.database.db.updateTable('owners').set({ mails_trusted: trusted }).where('id', '=', id).execute()
}

/** Makes an owner premium for a year, which lifts every limit of the free plan. */
export async function makePremium(on: TestServer, owner: Owner): Promise<void> {
  await on.database.db
    .updateTable('owners')
    .set({ premium_until: on.clock.now() + 365 * 86_400_000 })
    .where('id', '=', owner.id)
    .execute()
}

export async function makeApp(owner: Owner, name = 'Atlas') {
  const { status, json } = await owner.call('POST', '/apps', { name })
  expect(status).toBe(201)
  return json.data.app as { _id: string; appId: string; appSecret: string; name: string; version: string }
}

/** What a response says about a license sold by the specification's fields: one device, until a date. */
export const plainTerms = {
  term: 'date',
  duration: null,
  startedAt: null,
  graceDays: 0,
  inGrace: false,
} as const
export const plainLicense = {
  ...plainTerms,
  devices: 1,
  seats: null,
  seatTimeoutSeconds: 600,
  features: [],
  updatesForDays: null,
  updatesUntil: null,
  trial: false,
  type: null,
  customer: null,
  mail: 'none',
  mailWaitsFor: null,
} as const

export async function makeLicenses(on: TestServer, owner: Owner, app: { _id: string }, count = 1, days = 30) {
  const { status, json } = await owner.call('POST', '/licenses', {
    app: app._id,
    expiresAt: on.clock.inDays(days),
    count,
  })
  expect(status).toBe(201)
  return json.data.licenses as { _id: string; key: string; expiresAt: string }[]
}

/** A vendor's program with an open session. */
export interface Program {
  session: string
  appId: string
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>
}

export async function startProgram(
  on: TestServer,
  app: { appId: string; appSecret: string },
  { locale, version = '1.0.0', ...options }: CallOptions & { locale?: string; version?: string } = {},
): Promise<Program> {
  const { status, json } = await on.call('POST', '/client/init', {
    ...options,
    body: { appId: app.appId, secret: app.appSecret, version, sdk: 'keyward-js/1.1.0', locale },
  })
  expect(status).toBe(200)
  const { session } = json.data
  return {
    session,
    appId: app.appId,
    call: (method, path, body, more = {}) =>
      on.call(method, `/client${path}`, {
        ...options,
        ...more,
        token: session,
        body,
        headers: { 'keyward-app': app.appId, ...more.headers },
      }),
  }
}

/** Registers a new end user with a fresh license. */
export async function registerUser(
  on: TestServer,
  owner: Owner,
  app: Awaited<ReturnType<typeof makeApp>>,
  username = 'alice',
) {
  const [license] = await makeLicenses(on, owner, app)
  if (!license) throw new Error('the server returned no license')
  const program = await startProgram(on, app)
  const { status, json } = await program.call('POST', '/register', {
    username,
    password: 'swordfish',
    licenseKey: license.key,
  })
  expect(status).toBe(200)
  return { program, license, user: json.data.user as { _id: string; username: string; expiresAt: string } }
}

/** Starts a program and signs it in with a fresh key alone. */
export async function activateKey(
  on: TestServer,
  owner: Owner,
  app: Awaited<ReturnType<typeof makeApp>>,
  hwid?: string,
) {
  const license = single(await makeLicenses(on, owner, app))
  const program = await startProgram(on, app)
  const { status, json } = await program.call('POST', '/license', { licenseKey: license.key, hwid })
  expect(status).toBe(200)
  return { program, license, user: json.data.user as { _id: string; username: string; expiresAt: string } }
}

export function single<T>(list: readonly T[]): T {
  const [first, ...rest] = list
  if (first === undefined || rest.length > 0) throw new Error(`expected one element, got ${list.length}`)
  return first
}

/** Returns the error code after checking the response's form and status against the contract. */
export function refusal({ status, json }: Answer): ErrorCode {
  expect(json).toMatchObject({ success: false, code: expect.any(String), message: expect.any(String) })
  expect(status).toBe(errorFacts(json.code).status)
  return json.code
}

/** Returns the paths of the invalid fields. */
export function wrongFields(answer: Answer): string[] {
  expect(refusal(answer)).toBe('invalid_input')
  return answer.json.errors.map((issue: { path: string }) => issue.path)
}

export const hashed = sha256

/** Creates a license type; by default for one device and 30 days from the first use. */
export async function makeType(owner: Owner, app: { _id: string }, fields: object = {}) {
  const { status, json } = await owner.call('POST', `/apps/${app._id}/license-types`, {
    name: `Type ${++types}`,
    term: 'first_use',
    duration: { value: 30, unit: 'days' },
    ...fields,
  })
  expect(status).toBe(201)
  return json.data.licenseType as { _id: string; name: string }
}
let types = 0

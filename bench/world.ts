import { createHash, randomBytes } from 'node:crypto'
import { limits } from '@keyward/contract'
import type { LoadRequest } from 'autocannon'
import { day } from '../apps/server/src/core/clock.ts'
import { Caller } from './http.ts'
import type { Seeded } from './seed.ts'

/** The requests of the load, prepared for one running server. */
export interface World {
  validate: LoadRequest[]
  session: LoadRequest[]
  /** The check of protocol 1.2 of another system, which authenticates its answers with an HMAC. */
  check: LoadRequest[]
  init: LoadRequest[]
  login: LoadRequest[]
  createLicense: LoadRequest[]
  createHundred: LoadRequest
  deleteLicenses: LoadRequest
  deleteLicensesOf(app: string): LoadRequest
  deleteApp(app: string): LoadRequest
  exportLicenses(app: string): LoadRequest
  importLicenses(app: string): LoadRequest
  change(body: object): LoadRequest
  /** A new license of an account of its own. */
  otherWrite: LoadRequest
  list(query: string): LoadRequest
}

const sessionsOpened = 64
export const importedRows = limits.importRowsMax
const importedLine = (_: unknown, at: number) => `2036-01-01,Imported as number ${at}`
const csv = ['expiresAt,note', ...Array.from({ length: importedRows }, importedLine)].join('\n')

/** Signs in the owner and some end users. */
export async function prepareWorld(baseUrl: string, seeded: Seeded): Promise<World> {
  const caller = new Caller(baseUrl)
  const [app] = seeded.apps
  if (!app) throw new Error('no app was seeded')
  const { token } = await caller.call<{ token: string }>(
    withBody('POST', '/auth/login', { email: seeded.email, password: seeded.password }),
  )
  const init = signed('POST', '/client/init', { appId: app.appId, secret: app.secret, version: '1.0.0' })
  const login: LoadRequest[] = []
  const session: LoadRequest[] = []
  for (const username of seeded.users.slice(0, sessionsOpened)) {
    const opened = await caller.call<{ session: string }>(init)
    const headers = { authorization: `Bearer ${opened.session}`, 'keyward-app': app.appId }
    const body = { username, password: seeded.password, hwid: `hw-${username}` }
    const request = signed('POST', '/client/login', body, headers)
    await caller.call(request)
    login.push(request)
    session.push(signed('GET', '/client/session', undefined, headers))
  }
  const otherWrite = await prepareOther(caller, seeded.password)
  const owner = { authorization: `Bearer ${token}` }
  const check = await prepareChecks(caller, seeded, app.appId, owner)
  caller.close()
  const license = { app: app.appId, expiresAt: new Date(Date.now() + 90 * day).toISOString() }
  return {
    validate: seeded.keys.map((licenseKey) =>
      signed('POST', '/client/validate', { appId: app.appId, licenseKey, hwid: 'hw-of-a-computer' }),
    ),
    session,
    check,
    init: [init],
    login,
    createLicense: [withBody('POST', '/licenses', license, owner)],
    createHundred: withBody('POST', '/licenses', { ...license, count: 100 }, owner),
    deleteLicenses: { method: 'DELETE', path: '/api/licenses', headers: owner },
    deleteLicensesOf: (app) => ({ method: 'DELETE', path: `/api/licenses?app=${app}`, headers: owner }),
    deleteApp: (app) => ({ method: 'DELETE', path: `/api/apps/${app}`, headers: owner }),
    exportLicenses: (app) => ({
      method: 'GET',
      path: `/api/licenses/export?format=csv&app=${app}`,
      headers: owner,
    }),
    importLicenses: (app) => withBody('POST', '/licenses/import', { app, csv, dryRun: false }, owner),
    change: (body) => withBody('POST', '/licenses/bulk', body, owner),
    otherWrite,
    list: (query) => ({ method: 'GET', path: `/api/licenses?${query}`, headers: owner }),
  }
}

/** Signs in other end users by the protocol of another system. */
async function prepareChecks(
  caller: Caller,
  { users, password }: Seeded,
  appId: string,
  owner: { authorization: string },
): Promise<LoadRequest[]> {
  const settings = withBody('PUT', `/apps/${appId}/compatibility`, { enabled: true }, owner)
  const { name, ownerId: ownerid } = await caller.call<{ name: string; ownerId: string }>(settings)
  const request = (fields: Record<string, string>): LoadRequest => ({
    method: 'POST',
    path: '/api/1.2/',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ name, ownerid, ...fields }).toString(),
  })
  const ask = async (fields: Record<string, string>) => {
    const answer = JSON.parse((await caller.send(request(fields))).body)
    if (!answer.success) throw new Error(`${fields.type} returned ${JSON.stringify(answer)}`)
    return answer
  }
  const checks: LoadRequest[] = []
  for (const username of users.slice(sessionsOpened, 2 * sessionsOpened)) {
    const { sessionid } = await ask({ type: 'init', enckey: '1f3c9a60-7b2d-4e' })
    const hwid = `the-hardware-id-of-${username}`
    await ask({ type: 'login', sessionid, username, pass: password, hwid })
    await ask({ type: 'check', sessionid })
    checks.push(request({ type: 'check', sessionid }))
  }
  return checks
}

async function prepareOther(caller: Caller, password: string): Promise<LoadRequest> {
  const email = `other-${randomBytes(6).toString('hex')}@example.com`
  const { token } = await caller.call<{ token: string }>(
    withBody('POST', '/auth/register', { name: 'Other', email, password }),
  )
  const owner = { authorization: `Bearer ${token}` }
  const { app } = await caller.call<{ app: { _id: string } }>(
    withBody('POST', '/apps', { name: 'Other app' }, owner),
  )
  const create = withBody('POST', '/licenses', { app: app._id, expiresAt: '2036-01-01' }, owner)
  await caller.call(create)
  return create
}

function withBody(method: string, path: string, body: object, headers = {}): LoadRequest {
  return {
    method,
    path: `/api${path}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

/** Builds a request like the SDKs: always with a nonce, and with the digest of every body. */
function signed(method: string, path: string, body: object | undefined, headers = {}): LoadRequest {
  const nonce = { 'keyward-nonce': randomBytes(18).toString('base64url') }
  if (body === undefined) return { method, path: `/api${path}`, headers: { ...headers, ...nonce } }
  const request = withBody(method, path, body, { ...headers, ...nonce })
  const digest = createHash('sha256')
    .update(request.body ?? '')
    .digest('base64')
  request.headers['content-digest'] = `sha-256=:${digest}:`
  return request
}

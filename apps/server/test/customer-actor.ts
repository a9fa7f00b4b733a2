import { expect } from 'vitest'
import type { Owner } from './actors.ts'
import type { Answer, CallOptions, TestServer } from './harness.ts'

/** Turns on the page of an app. */
export async function openPage(
  owner: Pick<Owner, 'call'>,
  app: { _id: string },
  settings: object = {},
): Promise<void> {
  const { status } = await owner.call('PUT', `/apps/${app._id}`, {
    settings: { customerPage: true, ...settings },
  })
  expect(status).toBe(200)
}

/** A customer on the page of an app. */
export interface Customer {
  token: string
  call(method: string, path: string, body?: unknown): Promise<Answer>
  me(): Promise<Answer['json']>
}

export const logIn = (on: TestServer, app: { appId: string }, body: object, options: CallOptions = {}) =>
  on.call('POST', `/customer/${app.appId}/login`, { ...options, body })

export const signInByKey = (on: TestServer, app: { appId: string }, licenseKey: string): Promise<Customer> =>
  signInBy(on, app, { licenseKey })

/** Signs in by a key, a password or the token of a mailed link. */
export async function signInBy(on: TestServer, app: { appId: string }, body: object): Promise<Customer> {
  const { status, json } = await logIn(on, app, body)
  expect(status).toBe(200)
  const { token } = json.data
  const call: Customer['call'] = (method, path, sent) =>
    on.call(method, `/customer${path}`, { token, body: sent })
  return { token, call, me: async () => (await call('GET', '/me')).json.data }
}

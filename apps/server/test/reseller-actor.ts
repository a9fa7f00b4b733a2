import { expect } from 'vitest'
import type { Owner } from './actors.ts'
import type { Answer, TestServer } from './harness.ts'

let resellers = 0

/** A signed-in reseller. */
interface Reseller {
  _id: string
  email: string
  password: string
  token: string
  call(method: string, path: string, body?: unknown): Promise<Answer>
}

/** Creates a reseller for a premium owner's app and signs in. */
export async function makeReseller(
  on: TestServer,
  owner: Owner,
  app: { _id: string },
  allowed = 10,
): Promise<Reseller> {
  resellers += 1
  const credentials = { email: `reseller${resellers}@example.com`, password: 'sell them all' }
  const made = await owner.call('POST', '/resellers', {
    ...credentials,
    app_id: app._id,
    allowed_license_keys: allowed,
  })
  expect(made.status).toBe(201)
  const { status, json } = await on.call('POST', '/resellers/auth/login', { body: credentials })
  expect(status).toBe(200)
  const { token } = json.data
  return {
    ...credentials,
    _id: made.json.data._id,
    token,
    call: (method, path, body) => on.call(method, `/resellers/auth${path}`, { token, body }),
  }
}

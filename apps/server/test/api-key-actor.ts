import { expect } from 'vitest'
import type { Owner } from './actors.ts'
import type { CallOptions, TestServer } from './harness.ts'

/** Creates an API key; `call` sends it. */
export async function makeApiKey(on: TestServer, owner: Owner, wanted: object = {}) {
  const { status, json } = await owner.call('POST', '/api-keys', {
    name: 'Build server',
    permissions: ['licenses:read'],
    ...wanted,
  })
  expect(status).toBe(201)
  const { apiKey, key } = json.data
  return {
    key: key as string,
    id: apiKey._id as string,
    apiKey,
    call: (method: string, path: string, body?: unknown, options: CallOptions = {}) =>
      on.call(method, path, { token: key, body, ...options }),
  }
}

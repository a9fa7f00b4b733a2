// On SQLite alone: what it asserts is decided before any SQL.
import { describe, expect, test } from 'vitest'
import { serverForAll } from '../fixtures.ts'

const on = serverForAll({ PAYMENTS: 'off', RATE_LIMITS: 'on' })
const origin = 'https://shop.example'

test('a web page of any origin may call the endpoints of programs, without credentials', async () => {
  const preflight = await on.server.inject({
    method: 'OPTIONS',
    url: '/api/client/login',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,keyward-app,keyward-nonce,content-digest,content-type',
    },
  })
  expect(preflight.statusCode).toBe(204)
  expect(preflight.headers['access-control-allow-origin']).toBe('*')
  expect(preflight.headers['access-control-allow-credentials']).toBeUndefined()
  const allowed = String(preflight.headers['access-control-allow-headers']).split(', ')
  expect(allowed).toEqual(
    expect.arrayContaining([
      'authorization',
      'content-digest',
      'content-type',
      'keyward-app',
      'keyward-nonce',
    ]),
  )

  const refusal = await on.server.inject({ url: '/api/client/session', headers: { origin } })
  expect(refusal.headers['access-control-allow-origin']).toBe('*')
  expect(String(refusal.headers['access-control-expose-headers']).split(', ')).toEqual([
    'content-digest',
    'retry-after',
    'signature',
    'signature-input',
  ])
})

test('no other endpoint answers web pages of another origin', async () => {
  for (const url of [
    '/api/auth/profile',
    '/api/apps',
    '/api/health',
    '/api/resellers/auth/profile',
    '/docs',
  ]) {
    const { headers } = await on.server.inject({ url, headers: { origin } })
    expect([url, headers['access-control-allow-origin']]).toEqual([url, undefined])
  }
  const preflight = await on.server.inject({ method: 'OPTIONS', url: '/api/apps', headers: { origin } })
  expect(preflight.statusCode).toBe(405)
  expect(preflight.headers['access-control-allow-origin']).toBeUndefined()
})

describe('on a development instance', () => {
  const development = serverForAll()
  const call = (from: string, method: 'GET' | 'OPTIONS', url = '/api/client/session') =>
    development.server.inject({ method, url, headers: { origin: from } })

  test.each([
    ...['null', 'file://', 'app://obsidian.md', 'http://tauri.localhost', 'https://tauri.localhost'],
    ...[
      'tauri://localhost',
      'chrome-extension://abcdefghijklmnop',
      'capacitor://localhost',
      'http://localhost:5173',
    ],
  ])('a program in a window of the origin %s calls its endpoints', async (from) => {
    expect((await call(from, 'OPTIONS')).statusCode).toBe(204)
    const { statusCode, headers } = await call(from, 'GET')
    expect([statusCode, headers['access-control-allow-origin']]).toEqual([401, '*'])
  })

  test.each([origin, 'http://tauri.localhost.evil.example', 'http://localhost.evil.example'])(
    'a page of %s reads why it is refused',
    async (from) => {
      expect((await call(from, 'OPTIONS')).statusCode).toBe(204)
      const { statusCode, headers, payload } = await call(from, 'GET')
      expect([statusCode, headers['access-control-allow-origin']]).toEqual([400, '*'])
      expect(JSON.parse(payload).code).toBe('forwarded_refused')
    },
  )

  test.each(['null', origin])('no other endpoint answers %s', async (from) => {
    const { statusCode, headers } = await call(from, 'GET', '/api/apps')
    expect([statusCode, headers['access-control-allow-origin']]).toEqual([400, undefined])
  })
})

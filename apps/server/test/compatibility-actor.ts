import { createDecipheriv, createHash, createHmac, createPublicKey, verify } from 'node:crypto'
import { expect } from 'vitest'
import { makeApp, type Owner } from './actors.ts'
import type { TestServer } from './harness.ts'

export type Settings = Awaited<ReturnType<typeof turnOn>>

/** An app whose endpoints for other libraries are on. */
export async function turnOn(owner: Owner, app: { _id: string }, change: object = {}) {
  const protocols = ['1.0', '1.1', '1.2', '1.3']
  const body = { enabled: true, protocols, ...change }
  const { status, json } = await owner.call('PUT', `/apps/${app._id}/compatibility`, body)
  expect(status).toBe(200)
  return json.data as { name: string; ownerId: string; secret: string; publicKey: string; programs: number }
}

export async function makeOldApp(owner: Owner, change: object = {}) {
  const app = await makeApp(owner)
  return { app, settings: await turnOn(owner, app, change) }
}

export interface SendOptions {
  protocol?: string
  path?: string
  method?: 'GET' | 'POST'
  body?: string
  contentType?: string
  headers?: Record<string, string>
  from?: string
}

/** Sends a form as programs do, and returns what left the server. */
export async function send(on: TestServer, fields: Record<string, string>, options: SendOptions = {}) {
  const { protocol = '1.2', method = 'POST', from = '127.0.0.1' } = options
  const form = new URLSearchParams(fields).toString()
  const path = options.path ?? `/api/${protocol}/`
  const response = await on.server.inject({
    method,
    url: method === 'GET' ? `${path}?${form}` : path,
    remoteAddress: from,
    headers: {
      ...(method === 'POST' && {
        'content-type': options.contentType ?? 'application/x-www-form-urlencoded',
      }),
      ...options.headers,
    },
    ...(method === 'POST' && { payload: options.body ?? form }),
  })
  expect(response.statusCode).toBe(200)
  const { headers, payload } = response
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked by what the tests read of them
  const json: any = payload.startsWith('{') ? JSON.parse(payload) : undefined
  return { headers, payload, json }
}

export const hmac = (key: string, body: string) => createHmac('sha256', key).update(body).digest('hex')

/** A program with the library of 1.2: it checks every signature. */
export async function start12(on: TestServer, { name, ownerId, secret }: Settings, more: SendOptions = {}) {
  const enckey = '1f3c9a60-7b2d-4e'
  const common = { name, ownerid: ownerId }
  const opened = await send(on, { type: 'init', ver: '1.0.0', hash: '', enckey, ...common }, more)
  expect(opened.json).toMatchObject({ success: true, newSession: true })
  expect(opened.headers.signature).toBe(hmac(secret, opened.payload))
  const sessionid = opened.json.sessionid as string
  return {
    sessionid,
    opened: opened.json,
    call: async (type: string, fields: Record<string, string> = {}, options: SendOptions = more) => {
      const answer = await send(on, { type, sessionid, ...common, ...fields }, options)
      expect(answer.headers.signature).toBe(hmac(`${enckey}-${secret}`, answer.payload))
      return answer.json
    },
  }
}

/** Checks what a library of 1.3 checks of every answer, and returns it. */
export function read13(
  { ownerId, publicKey }: Settings,
  { headers, payload, json }: Awaited<ReturnType<typeof send>>,
) {
  const timestamp = String(headers['x-signature-timestamp'])
  expect(timestamp).toMatch(/^\d{10}$/)
  const x = Buffer.from(publicKey, 'hex').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const signature = Buffer.from(String(headers['x-signature-ed25519']), 'hex')
  expect(verify(null, Buffer.from(timestamp + payload), key, signature)).toBe(true)
  expect(payload).toMatch(/^[\x20-\x7e]{32,}$/)
  expect(json).toMatchObject({ message: expect.any(String), ownerid: ownerId, nonce: expect.any(String) })
  expect(json.code === 68).toBe(json.success)
  return json
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

/** Decrypts an answer of 1.0. */
export function read10(key: string, iv: string, payload: string) {
  const cipher = createDecipheriv('aes-256-cbc', digest(key).slice(0, 32), digest(iv).slice(0, 16))
  return JSON.parse(cipher.update(payload, 'hex', 'utf8') + cipher.final('utf8'))
}

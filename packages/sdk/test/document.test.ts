import { createHash, createPrivateKey, type Hash, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { endpoints } from '@keyward/contract'
import { expect, it } from 'vitest'
import { encodeRequest } from '../src/activation.ts'
import { toKeyRing } from '../src/keys.ts'
import { readLease } from '../src/lease.ts'
import { contentDigest, signatureBase, verifyAnswer } from '../src/signature.ts'
import { testKey } from './signer.ts'

const text = readFileSync(new URL('../../../docs/client-protocol.md', import.meta.url), 'utf8')
/** The blocks of code after a line. */
function blocksAfter(line: string): string[] {
  const from = text.indexOf(line)
  expect(from, line).toBeGreaterThan(0)
  return [...text.slice(from).matchAll(/```(\w*)\n([\s\S]*?)\n```/g)].map((match) => match[2]!)
}
const [jwk, ...exchanged] = blocksAfter('### A worked example\n') as [string, string, string, string]
const keys = toKeyRing(JSON.parse(jwk))
const hwid = '7580780d439ae50c458cace40a3e7922c90f451498daaf1853607965168b0ec5'
const sha256 = (...parts: (string | Buffer)[]) =>
  parts.reduce<Hash>((hash, part) => hash.update(part), createHash('sha256')).digest()

function toMessage(block: string) {
  const [head, body] = block.split('\n\n') as [string, string]
  const [first, ...lines] = head.split('\n') as [string, ...string[]]
  const headers = new Map(
    lines
      .map((line) => line.split(/: (.*)/s).slice(0, 2))
      .map(([name, value]) => [name!.toLowerCase(), value!]),
  )
  return { first, body, headers, get: (name: string) => headers.get(name.toLowerCase()) ?? null }
}

it('the worked example in the protocol document verifies byte for byte', async () => {
  const [requestText, answerText, base] = exchanged
  const request = toMessage(requestText)
  const response = toMessage(answerText)
  const [method, path] = request.first.split(' ') as [string, string]
  const sent = {
    method,
    path,
    nonce: request.get('Keyward-Nonce')!,
    authorization: request.get('Authorization')!,
    contentDigest: request.get('Content-Digest')!,
  }
  const answer = {
    status: Number(response.first.split(' ')[1]),
    headers: response,
    body: Buffer.from(response.body),
  }
  for (const message of [request, response]) {
    expect(message.get('Content-Digest')).toBe(await contentDigest(Buffer.from(message.body)))
    expect(message.get('Content-Length')).toBe(`${Buffer.byteLength(message.body)}`)
  }
  const { created } = await verifyAnswer(sent, answer, keys)
  expect(signatureBase(sent, answer, { created, keyid: 'test-key-ed25519' })).toBe(base)
})

type Shape = Record<string, { safeParse(value: unknown): { success: boolean } }>

/** The fields as the page lists them: names in code, optional ones with a question mark. */
const listed = (cell: string) =>
  [...cell.replace(/\{[^}]*\}/g, '').matchAll(/`(\w+)\s*(\??)`/g)]
    .map(([, name, mark]) => `${name}${mark}`)
    .sort()
const declared = (schema: object = {}) =>
  Object.entries((schema as { shape?: Shape }).shape ?? {})
    .map(([name, field]) => `${name}${field.safeParse(undefined).success ? '?' : ''}`)
    .sort()

it.each(Object.values(endpoints.program))('the table of calls lists every field of $method $path', (call) => {
  const name = `${call.method} ${call.path.replace('/client/', '').replace(/:(\w+)/g, '{$1}')}`
  const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\` |`))
  const [, , body = '', data = ''] = row?.split('|') ?? []
  expect({ name, body: listed(body), data: listed(data) }).toEqual({
    name,
    body: declared('body' in call ? call.body : undefined),
    data: declared('data' in call ? call.data : undefined),
  })
})

it('the worked example of a lease is what the server signs, byte for byte', async () => {
  const [header, claims, lease] = blocksAfter('### A worked example of a lease\n') as [string, string, string]
  const input = [header, claims].map((part) => Buffer.from(part).toString('base64url')).join('.')
  const key = createPrivateKey({ key: testKey, format: 'jwk' })
  expect(lease).toBe(`${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`)
  expect(text).toContain(`the hardware id \`${hwid}\`. Header, claims and the lease:`)
  expect(await readLease(lease, { appId: 'k3yw4rd1', hwid, keys })).toEqual(JSON.parse(claims))
})

it('the worked example of an activation request has the bytes of its table', async () => {
  const licenseKey = '7K3QD-M9XWV-2TBRE-HJ5NC-P8FGA'
  const line = `For the app id \`k3yw4rd1\`, the hardware id \`${hwid}\` and the key \`${licenseKey}\``
  const [table, request] = blocksAfter(line) as [string, string]
  const rows = table.split('\n').map((row) => Buffer.from(row, 'hex'))
  const [version, nonce, hashed, key, check] = rows as [Buffer, Buffer, Buffer, Buffer, Buffer]
  expect([version, hashed, key]).toEqual([Buffer.from([1]), sha256(hwid), Buffer.from(licenseKey)])
  expect(check).toEqual(sha256('k3yw4rd1', ...rows.slice(0, 4)).subarray(0, 4))
  expect(await encodeRequest({ appId: 'k3yw4rd1', hwid, licenseKey, nonce })).toBe(request)
})

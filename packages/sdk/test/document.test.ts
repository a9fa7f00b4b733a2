import { readFileSync } from 'node:fs'
import { endpoints } from '@keyward/contract'
import { expect, it } from 'vitest'
import { toKeyRing } from '../src/keys.ts'
import { contentDigest, signatureBase, verifyAnswer } from '../src/signature.ts'

const text = readFileSync(new URL('../../../docs/client-protocol.md', import.meta.url), 'utf8')
const example = text.slice(text.indexOf('### A worked example'))
const blocks = [...example.matchAll(/```(\w*)\n([\s\S]*?)\n```/g)].map((match) => match[2]!)

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
  const [jwk, requestText, answerText, base] = blocks as [string, string, string, string]
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
  const { created } = await verifyAnswer(sent, answer, toKeyRing(JSON.parse(jwk)))
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

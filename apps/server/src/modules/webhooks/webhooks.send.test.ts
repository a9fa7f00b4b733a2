import { limits } from '@keyward/contract'
import { Webhook } from 'standardwebhooks'
import { expect, test, vi } from 'vitest'
import { OutboundError } from '../../service/outbound/failures.ts'
import type { OutboundAnswer, OutboundRequest } from '../../service/outbound/outbound.ts'
import { type Receiver, send } from './webhooks.send.ts'
import { newWebhookSecret } from './webhooks.signature.ts'

const secret = newWebhookSecret()
const url = 'https://hooks.example/services/T0000/token-0123456789abcdef?key=0123456789abcdef'
const receiver: Receiver = { url, format: 'standard', secrets: [secret] }
const parcel = {
  id: 'aud_1',
  body: '{"type":"license.banned","data":{"name":"Zoë 🔑"}}',
  now: Date.now(),
}

function outboundWith(answer: Partial<OutboundAnswer> | OutboundError) {
  const sent: OutboundRequest[] = []
  const exchange = vi.fn(async (request: OutboundRequest) => {
    sent.push(request)
    if (answer instanceof OutboundError) throw answer
    return { status: 200, headers: {}, body: Buffer.from('ok'), ...answer }
  })
  return { sent, outbound: { exchange } }
}

test('secrets are base64 of 32 random bytes', () => {
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(newWebhookSecret()).not.toBe(secret)
  expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
})

test('the Standard Webhooks library accepts the signature, and after a rotation with both secrets', async () => {
  const former = newWebhookSecret()
  const { sent, outbound } = outboundWith({})
  await send({ outbound }, { ...receiver, secrets: [secret, former] }, parcel)
  const [{ headers, body } = { headers: {}, body: '' }] = sent
  for (const each of [secret, former]) {
    expect(new Webhook(each).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(parcel.body))
  }
  expect(() => new Webhook(newWebhookSecret()).verify(body, headers as Record<string, string>)).toThrow()
  expect(() => new Webhook(secret).verify(`${body} `, headers as Record<string, string>)).toThrow()
  expect(body).toBe(parcel.body)
})

test('reports status, answer and the wait that the receiver asks for', async () => {
  const { outbound } = outboundWith({
    status: 503,
    headers: {
      'retry-after': '7',
      'content-type': 'text/plain',
      server: 'internal/1.2',
      'set-cookie': ['a=b'],
    },
    body: Buffer.from('later'),
  })
  const attempt = await send({ outbound }, receiver, parcel)
  expect(attempt).toMatchObject({ status: 503, error: null, retryAfterMs: 7000 })
  expect(attempt.response).toBe('HTTP 503\ncontent-type: text/plain\nretry-after: 7\n\nlater')
})

test.each([
  ['0.35', 350],
  ['Thu, 01 Jan 1970 00:00:00 GMT', null],
  [new Date(parcel.now + 90_000).toUTCString(), expect.closeTo(90_000, -4)],
  ['99999999', 24 * 60 * 60_000],
  ['soon', null],
  ['-5', null],
])('reads Retry-After: %s', async (header, waitMs) => {
  const { outbound } = outboundWith({ status: 429, headers: { 'retry-after': header } })
  expect((await send({ outbound }, receiver, parcel)).retryAfterMs).toEqual(waitMs)
})

test('a request without a response has a reason and no status', async () => {
  const { outbound } = outboundWith(new OutboundError('host', new Error('getaddrinfo 10.0.0.1')))
  expect(await send({ outbound }, receiver, parcel)).toMatchObject({
    status: null,
    error: 'The host has no public address.',
    response: null,
    retryAfterMs: null,
    durationMs: 0,
  })
})

test('keeps neither signatures, nor secrets, nor the path of the address, also if the receiver repeats them', async () => {
  const echo = {
    exchange: async (request: OutboundRequest) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(request)),
    }),
  }
  const attempt = await send({ outbound: echo }, receiver, parcel)
  const kept = JSON.stringify(attempt)
  expect(attempt.request).toBe(
    `POST https://hooks.example\ncontent-type: application/json\nwebhook-id: aud_1\nwebhook-timestamp: ${Math.floor(parcel.now / 1000)}\n\n${parcel.body}`,
  )
  expect(kept).not.toMatch(/v1,[A-Za-z0-9+/]/)
  for (const hidden of [secret.slice(6), 'token-0123456789abcdef', '=0123456789abcdef']) {
    expect(kept).not.toContain(hidden)
  }
})

test('keeps 2 KiB of whole characters that every database stores', async () => {
  const { outbound } = outboundWith({ body: Buffer.from(`\u0000\u001b[2J\u202e${'🔑'.repeat(2000)}`) })
  const { response, request } = await send({ outbound }, receiver, { ...parcel, body: 'ä'.repeat(5000) })
  for (const kept of [response ?? '', request]) {
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(limits.deliveryBytesMax)
    expect(Buffer.byteLength(kept)).toBeGreaterThan(limits.deliveryBytesMax - 4)
    expect(kept).not.toMatch(/[^\P{C}\n]/u)
    expect(kept).not.toMatch(/\ufffd$/)
  }
})

test('keeps no bytes of a compressed answer', async () => {
  const { outbound } = outboundWith({
    headers: { 'content-encoding': 'gzip' },
    body: Buffer.from([31, 139, 8]),
  })
  expect((await send({ outbound }, receiver, parcel)).response).toBe('HTTP 200\ncontent-encoding: gzip\n\n')
})

const hostileText =
  '@everyone <@123> [click](https://evil.example) **bold** `code` ```js\n# title\u202e\u0000 || https://evil.example <#1> \ud800'
const hostileEvent = {
  type: 'license.banned',
  timestamp: '2030-01-01T00:00:00.000Z',
  data: {
    actor: { kind: 'member', _id: 'acc_1', name: hostileText },
    subject: { kind: 'end_user', _id: 'usr_1', name: hostileText },
    object: { note: hostileText },
    detail: Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `field_${at}`,
        at % 2 ? hostileText.repeat(40) : { reason: hostileText },
      ]),
    ),
  },
}

test('a message for Discord shows foreign text as code alone, mentions nobody and is within all limits', async () => {
  const { sent, outbound } = outboundWith({ status: 204 })
  await send(
    { outbound },
    { ...receiver, format: 'discord', secrets: [] },
    {
      ...parcel,
      body: JSON.stringify(hostileEvent),
    },
  )
  const [{ headers, body } = { headers: {}, body: '' }] = sent
  expect(Object.keys(headers).filter((name) => name.startsWith('webhook-'))).toEqual([])
  const message = JSON.parse(body)
  expect(message.allowed_mentions).toEqual({ parse: [] })
  expect(message.content).toBeUndefined()
  const [embed] = message.embeds
  expect(embed).toMatchObject({ title: 'License banned', footer: { text: 'license.banned' } })
  expect(embed.fields.length).toBeLessThanOrEqual(25)
  for (const { name, value } of embed.fields) {
    expect(name).toMatch(/^[A-Za-z0-9 ]{1,60}$/)
    expect(value).toMatch(/^`[^`\p{C}]+`$/u)
    expect(value.length).toBeLessThanOrEqual(1024)
  }
  const texts = [embed.title, embed.footer.text, ...embed.fields.flatMap(Object.values)]
  expect(texts.filter((text) => typeof text === 'string').join('').length).toBeLessThan(6000)
})

test("waits as long as Discord's limit asks for", async () => {
  const { outbound } = outboundWith({ status: 429, headers: { 'retry-after': '1.5' } })
  const attempt = await send(
    { outbound },
    { ...receiver, format: 'discord', secrets: [] },
    {
      ...parcel,
      body: JSON.stringify({ ...hostileEvent, type: 'webhook.test' }),
    },
  )
  expect(attempt).toMatchObject({ status: 429, retryAfterMs: 1500 })
})

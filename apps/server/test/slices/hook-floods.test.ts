// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { Readable } from 'node:stream'
import { limits } from '@keyward/contract'
import { expect, test } from 'vitest'
import { appForAll, ownerForAll, serverForAll } from '../fixtures.ts'
import { times } from '../rounds.ts'
import { makeShop, sell } from '../shop-actor.ts'
import { paid, signedRequest } from '../shop-events.ts'

const on = serverForAll({ RATE_LIMITS: 'on', PAYMENTS: 'off' })
const owner = ownerForAll(on)
const app = appForAll(owner)

const forge = (hook: string, from: string) =>
  on.server.inject({
    method: 'POST',
    url: hook,
    remoteAddress: from,
    payload: '{}',
    headers: { 'content-type': 'application/json' },
  })
const statuses = (answers: { statusCode: number }[]) => new Set(answers.map(({ statusCode }) => statusCode))

test('forged requests of strangers use up nothing of what a shop may send', async () => {
  const shop = await makeShop(owner, app._id)
  const forged = await times(limits.hookEventsPerMinute, () => forge(shop.hook, '198.51.100.7'))
  expect(statuses(forged)).toEqual(new Set([401]))
  expect((await forge(shop.hook, '198.51.100.7')).statusCode).toBe(429)
  expect((await forge('/api/hooks/shp_unknown', '198.51.100.7')).statusCode).toBe(429)
  expect((await forge(shop.hook, '198.51.100.8')).statusCode).toBe(401)
  expect(await sell(on, shop, paid('after-flood'))).toBe(200)
})

test('a body for an unknown hook, or for a provider that is off, is not read', async () => {
  const shop = await makeShop(owner, app._id)
  for (const [url, status, isRead] of [
    ['/api/hooks/shp_unread', 404, false],
    [`${shop.hook}.x`, 404, false],
    ['/api/payments/razorpay/webhook', 503, false],
    [shop.hook, 401, true],
  ] as const) {
    let read = 0
    const payload = new Readable({
      read() {
        read += 1
        this.push(read > 3 ? null : 'x'.repeat(32_768))
      },
    })
    const headers = { 'content-length': '98304' }
    const answer = await on.server.inject({
      method: 'POST',
      url,
      remoteAddress: '198.51.100.11',
      payload,
      headers,
    })
    expect([url, answer.statusCode, answer.headers.connection === 'close', read > 1]).toEqual([
      url,
      status,
      !isRead,
      isRead,
    ])
  }
})

test('large bodies of one address count as several requests, and those of a flood are not read', async () => {
  const body = 'x'.repeat(262_144)
  const post = (from: string) =>
    on.server.inject({ method: 'POST', url: '/api/hooks/shp_large', remoteAddress: from, payload: body })
  const most = limits.strangerRequestsPerMinute / 16
  const answers = await times(Math.ceil(most) + 1, () => post('198.51.100.9'))
  expect(answers.map(({ statusCode }) => statusCode).filter((status) => status !== 404)).toEqual([429])
  expect((await post('198.51.100.10')).statusCode).toBe(404)
})

test('a shop that sends too much waits, and others do not', async () => {
  const [loud, quiet] = [await makeShop(owner, app._id), await makeShop(owner, app._id)]
  const request = signedRequest(loud.secret, paid('loud'), new Date(on.clock.now()))
  const answers = await times(limits.hookEventsPerMinute + 1, (at) =>
    on.server.inject({ method: 'POST', url: loud.hook, remoteAddress: `203.0.113.${at % 250}`, ...request }),
  )
  expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(limits.hookEventsPerMinute)
  const refused = answers.find(({ statusCode }) => statusCode === 429)
  expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0)
  expect(await sell(on, quiet, paid('quiet'))).toBe(200)
})

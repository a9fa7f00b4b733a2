// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { createHash } from 'node:crypto'
import { limits } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { minute, second } from '../../src/core/clock.ts'
import { refusal } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { ownerForAll, serverForAll } from '../fixtures.ts'
import { statementsOf } from '../statements.ts'

const on = serverForAll({
  RATE_LIMITS: 'on',
  TRUST_PROXY: '1',
  PUBLIC_URL: 'https://keyward.example.com',
})
const owner = ownerForAll(on)

const listed = async (id: string) =>
  (await owner.call('GET', '/api-keys')).json.data.apiKeys.find(({ _id }: { _id: string }) => _id === id)

describe('a key for some networks', () => {
  const networks = ['203.0.113.0/24', '2001:db8:0:1::/64', '2001:db8:7::/48', '198.51.100.9']

  test.each([
    ['203.0.113.200', true],
    ['203.0.114.1', false],
    ['198.51.100.9', true],
    ['198.51.100.8', false],
    ['::ffff:203.0.113.5', true],
    ['64:ff9b::203.0.113.5', true],
    ['2001:db8:0:1::1', true],
    ['2001:DB8:0:1:ffff:ffff:ffff:ffff', true],
    ['2001:db8:0:2::1', false],
    ['2001:db8:7:ffff::1', true],
    ['2001:db8:8::1', false],
  ])('called from %s is accepted: %s', async (address, isAllowed) => {
    const { call } = await makeApiKey(on, owner, { networks })
    const answer = await call('GET', '/licenses', undefined, { headers: { 'x-forwarded-for': address } })
    if (isAllowed) expect(answer.status).toBe(200)
    else expect(refusal(answer)).toBe('network_not_allowed')
  })

  test('trusts no address that the caller writes itself', async () => {
    const { call } = await makeApiKey(on, owner, { networks: ['203.0.113.0/24'] })
    const headers = { 'x-forwarded-for': '203.0.113.5, 198.51.100.1' }
    expect(refusal(await call('GET', '/licenses', undefined, { headers }))).toBe('network_not_allowed')
  })

  test('says so before it says which calls the key may make', async () => {
    const { call } = await makeApiKey(on, owner, { networks: ['203.0.113.0/24'] })
    for (const path of ['/apps', '/auth/profile', '/licenses'])
      expect(refusal(await call('GET', path))).toBe('network_not_allowed')
  })
})

describe('the last use of a key', () => {
  test('is stored with its address, at most every five minutes', async () => {
    const { call, id } = await makeApiKey(on, owner)
    const from = (address: string) =>
      call('GET', '/licenses', undefined, { headers: { 'x-forwarded-for': address } })
    await from('203.0.113.1')
    const first = on.clock.inDays(0)
    expect(await listed(id)).toMatchObject({ lastUsedAt: first, lastAddress: '203.0.113.1' })
    on.clock.advance(5 * minute - second)
    const sent = await statementsOf(on.database, async () => {
      await from('2001:db8::1')
    })
    expect(sent.filter(({ text }) => /^\s*(update|insert|delete)/i.test(text))).toEqual([])
    expect(await listed(id)).toMatchObject({ lastUsedAt: first, lastAddress: '203.0.113.1' })
    on.clock.advance(second)
    await from('2001:db8::1')
    expect(await listed(id)).toMatchObject({
      lastUsedAt: on.clock.inDays(0),
      lastAddress: '2001:db8:0:0::/64',
    })
  })

  test('is not that of a refused call', async () => {
    const { call, id } = await makeApiKey(on, owner, { networks: ['203.0.113.0/24'] })
    await call('GET', '/licenses')
    expect(await listed(id)).toMatchObject({ lastUsedAt: null, lastAddress: null })
  })
})

test('a token with a wrong checksum is refused without asking the database', async () => {
  const { key } = await makeApiKey(on, owner)
  const wrong = key.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const ask = async (token: string) => {
    let answer: Awaited<ReturnType<typeof on.call>> | undefined
    const sent = await statementsOf(on.database, async () => {
      answer = await on.call('GET', '/licenses', { token })
    })
    return { sent, code: refusal(answer!) }
  }
  expect(await ask(wrong)).toEqual({ sent: [], code: 'unauthorized' })
})

test('unknown keys in large numbers get one answer, and none of them is stored', async () => {
  const before = await on.database.db.selectFrom('attempts').selectAll().execute()
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      on.call('GET', '/licenses', {
        token: `kwa_${createHash('sha256').update(String(at)).digest('hex').slice(0, 40)}`,
      }),
    ),
  )
  for (const { status, json } of answers)
    expect({ status, json }).toEqual(answers[0] && { status: 401, json: answers[0].json })
  expect(await on.database.db.selectFrom('attempts').selectAll().execute()).toEqual(before)
})

describe('the requests of a key', () => {
  test('stop after 600 in a minute, and cost no other key and no person anything', async () => {
    const [one, two] = [await makeApiKey(on, owner), await makeApiKey(on, owner)]
    for (let sent = 0; sent < limits.apiKeyRequestsPerMinute; sent += 1) {
      // Refused ones count too.
      const { status } = await one.call('GET', sent % 2 ? '/apps' : '/licenses?limit=1')
      expect(status).toBe(sent % 2 ? 403 : 200)
    }
    const answer = await one.call('GET', '/licenses')
    expect(refusal(answer)).toBe('rate_limited')
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60)
    expect((await two.call('GET', '/licenses')).status).toBe(200)
    expect((await owner.call('GET', '/licenses')).status).toBe(200)
  })

  test('from a network that the key does not allow are not counted', async () => {
    const { call } = await makeApiKey(on, owner, { networks: ['203.0.113.0/24'] })
    for (let sent = 0; sent <= limits.apiKeyRequestsPerMinute; sent += 1) await call('GET', '/licenses')
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    expect((await call('GET', '/licenses', undefined, { headers })).status).toBe(200)
  })
})

// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import { activateKey, makeApp, makePremium, signUp } from '../actors.ts'
import { serverForAll, tidyUp } from '../fixtures.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()

const ownerSession = async () => {
  const { token } = await signUp(on)
  return async () => (await on.call('GET', '/auth/profile', { token })).status
}

const resellerSession = async () => {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const { token } = await makeReseller(on, owner, await makeApp(owner))
  return async () => (await on.call('GET', '/resellers/auth/profile', { token })).status
}

describe.each([
  ['an owner', ownerSession],
  ['a reseller', resellerSession],
])('the session of %s', (_name, open) => {
  test('ends 90 days after sign-in, even in daily use', async () => {
    const status = await open()
    for (let days = 0; days < 80; days += 10) {
      on.clock.advance(10 * day)
      expect(await status()).toBe(200)
    }
    on.clock.advance(10 * day - hour)
    expect(await status()).toBe(200)
    on.clock.advance(hour)
    expect(await status()).toBe(401)
  })
})

test('housekeeping deletes ended sessions of every kind and keeps the others', async () => {
  const { db } = on.database
  const idsOf = async (table: 'owner_sessions' | 'reseller_sessions' | 'client_sessions') =>
    (await db.selectFrom(table).select('id').orderBy('id').execute()).map((row) => row.id)
  const all = () =>
    Promise.all([idsOf('owner_sessions'), idsOf('reseller_sessions'), idsOf('client_sessions')])
  on.clock.advance(100 * day)
  await tidyUp(on)
  expect(await all()).toEqual([[], [], []])

  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner)
  await makeReseller(on, owner, app)
  await activateKey(on, owner, app)
  const open = await all()
  expect(open.map((ids) => ids.length)).toEqual([1, 1, 1])
  await tidyUp(on)
  expect(await all()).toEqual(open)
  on.clock.advance(day)
  await tidyUp(on)
  expect(await all()).toEqual([open[0], open[1], []])
  on.clock.advance(29 * day)
  await tidyUp(on)
  expect(await all()).toEqual([[], [], []])
})

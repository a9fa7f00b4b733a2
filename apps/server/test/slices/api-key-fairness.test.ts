// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { makeLicenses } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const other = premiumOwnerForAll(on)
const app = appForAll(owner)

type Key = Awaited<ReturnType<typeof makeApiKey>>

const makeKeys = async (count: number, permissions: string[]): Promise<Key[]> => {
  const keys = []
  for (let at = 0; at < count; at += 1) {
    const key = await makeApiKey(on, owner, { permissions })
    await key.call('GET', '/licenses')
    keys.push(key)
  }
  return keys
}

/** Keeps every key at its full load, and returns how many of their calls were answered while each of the others waited. */
async function answeredDuring(keys: Key[], calls: (() => Promise<{ status: number }>)[]): Promise<number[]> {
  let answered = 0
  const underWay = Promise.withResolvers<void>()
  const load = keys.map(async (key) => {
    const send = async () => {
      // A list that waits for a thread, as those of the others do.
      expect((await key.call('GET', '/licenses?status=unused')).status).toBe(200)
      answered += 1
      if (answered === 2 * keys.length) underWay.resolve()
    }
    await Promise.all(Array.from({ length: 20 }, send))
  })
  await underWay.promise
  const begun = answered
  const counts = calls.map(async (call) => {
    expect((await call()).status).toBe(200)
    return answered - begun
  })
  await Promise.all(load)
  return Promise.all(counts)
}

test('many keys at full load let the console of their vendor and of another answer like one account', async () => {
  const keys = await makeKeys(40, ['licenses:read', 'licenses:write'])
  await makeLicenses(on, owner, app, 50)
  const reads = await answeredDuring(keys, [
    () => owner.call('GET', '/licenses'),
    () => other.call('GET', '/licenses'),
    () => owner.call('GET', '/apps'),
  ])
  for (const count of reads) expect(count).toBeLessThan(40)
})

// On PostgreSQL in the full run: the states are decided after the statements, which client-updates sends there.
import type { Release } from '@keyward/contract'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { makeLicenses } from '../actors.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { rounds } from '../rounds.ts'
import { updatesOn } from '../update-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
const { release, start, use } = updatesOn(on, owner, app)

const artifacts = [
  {
    ...{ platform: 'windows', architecture: 'x64', kind: 'installer', name: 'atlas.exe', size: 1000 },
    ...{ url: 'https://example.com/atlas.exe', sha512: 'a'.repeat(128) },
  },
]
const security = { severity: 'high', affects: [{ before: '4.0.0' }], summary: 'A file runs code' }
const fixed = { artifacts, security }
const removed = '1.5.2'
const releases: Release[] = []

beforeAll(async () => {
  const lists: [version: string, days: number, more: object][] = [
    ['1.0.0', -90, { artifacts }],
    ['1.5.0', -60, {}],
    ['1.5.1', -9, fixed],
    ['2.0.0', -40, { artifacts }],
    ['2.1.0', -30, { artifacts }],
    ['2.2.0', -20, { artifacts, updatesFrom: '2.0.0' }],
    ['2.3.0', -15, { artifacts, channel: 'beta' }],
    ['3.0.0', -10, { artifacts, updatesFrom: '2.1.0' }],
    ['3.0.1', -4, { ...fixed, updatesFrom: '3.0.0' }],
    ['3.1.0', 5, { artifacts }],
    ['3.2.0', -1, fixed],
    ['3.2.1', -2, { artifacts }],
  ]
  for (const [version, days, more] of lists) releases.push(await release(version, days, more))
  await owner.call('POST', `/releases/${releases.at(4)?._id}/withdraw`)
  const withdrawn = await release('3.3.0', -1, fixed)
  await owner.call('POST', `/releases/${withdrawn._id}/withdraw`)
  await owner.call('DELETE', `/releases/${(await release(removed, -1, fixed))._id}`)
})

interface State {
  version: string
  createdDaysAgo: number
  updatesFor: number | null
  /** An end that payments have moved. */
  paidDays: number | null
  endsInDays: number
}

const days = (min: number, max: number) => fc.integer({ min, max })
const states = fc.record<State>({
  version: fc.constantFrom(...['0.9.0', '1.0.0', '1.5.0', '2.0.0', '2.2.0', '2.3.0', '3.0.0', 'nightly']),
  createdDaysAgo: days(1, 100),
  updatesFor: fc.option(days(1, 100)),
  paidDays: fc.option(days(-100, 3), { freq: 2 }),
  endsInDays: days(-80, 80),
})

/** Makes a license in each of so many generated states. */
async function* licensesIn(count: number) {
  for (let made = 0; made < count; made += 100) {
    const some = Math.min(100, count - made)
    const licenses = await makeLicenses(on, owner, app, some)
    const now = on.clock.now()
    for (const [at, state] of fc.sample(states, { numRuns: some, seed: made }).entries()) {
      const { _id = '', key = '' } = licenses[at] ?? {}
      const created = now - state.createdDaysAgo * day
      const paid = state.paidDays === null ? null : now + state.paidDays * day
      const until = paid ?? (state.updatesFor === null ? Infinity : created + state.updatesFor * day)
      const endsAt = now + state.endsInDays * day
      await on.database.db
        .updateTable('licenses')
        .set({ updates_for_days: state.updatesFor, updates_until: paid })
        .set({ created_at: created, expires_at: endsAt })
        .where('id', '=', _id)
        .execute()
      yield { ...state, key, window: Math.min(until, endsAt <= now ? endsAt : Infinity) }
    }
  }
}

const numbers = (version: string) => version.split('.').map(Number)
function isNewer(one: string, other: string): boolean {
  const [mine, theirs] = [numbers(one), numbers(other)]
  const at = mine.findIndex((number, place) => number !== theirs[place])
  return at !== -1 && Number(mine[at]) > Number(theirs[at])
}

test('a license is offered nothing beyond its window, by a feed or a call, and all that is within', async () => {
  const seen = { offered: 0, beyond: 0, shut: 0 }
  for await (const { key, version, window } of licensesIn(rounds(20, 2000))) {
    const open = releases
      .filter(({ channel, version: name }) => channel === 'stable' && name !== '2.1.0' && name !== '3.1.0')
      .filter(
        ({ version: name, updatesFrom }) =>
          version === 'nightly' ||
          (isNewer(name, version) && (updatesFrom === null || !isNewer(updatesFrom, version))),
      )
      .toSorted((one, other) => (isNewer(one.version, other.version) ? -1 : 1))
    const mine = open.filter((one) => one.security !== null || Date.parse(one.releasedAt) <= window)
    const feed = await on.server.inject({
      url: `/api/updates/${app.appId}/json/stable?version=${version}`,
      headers: { 'keyward-license': key },
    })
    const named = (all: Pick<Release, 'version'>[]) => all.map((one) => one.version)
    expect(named(feed.json().releases)).toEqual(named(mine))
    const target = { platform: 'windows', architecture: 'x64' }
    const { json } = await (await start(version))('POST', '/updates', { ...target, licenseKey: key })
    const { update, beyond } = json.data
    expect(update?.version).toBe(mine[0]?.version)
    expect(beyond?.version).toBe(open[0] === mine[0] ? undefined : open[0]?.version)
    seen.offered += mine.length
    seen.shut += open.length - mine.length
    seen.beyond += beyond ? 1 : 0
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0)
})

test('no license is refused a security fix over its updates, or as too old', async () => {
  await owner.call('PUT', `/apps/${app._id}`, { settings: { minimumVersion: '9.0.0' } })
  const refused = { updatesEnded: 0, versionTooOld: 0, noActiveSubs: 0, none: 0 }
  const fixes = ['1.5.1', '3.0.1', '3.2.0', '3.3.0', removed]
  for await (const { key, version, createdDaysAgo } of licensesIn(rounds(20, 10_000))) {
    const fix = fixes[createdDaysAgo % fixes.length] ?? ''
    const [own, repaired] = [await use(version, key), await use(fix, key)]
    refused[(own.json.code ?? 'none') as keyof typeof refused] += 1
    expect(['noActiveSubs', undefined]).toContain(repaired.json.code)
    expect(repaired.json.code === undefined).toBe(own.json.code !== 'noActiveSubs')
  }
  // The same licenses are refused other versions.
  expect(refused.updatesEnded * refused.versionTooOld * refused.noActiveSubs).toBeGreaterThan(0)
}, 1_800_000)

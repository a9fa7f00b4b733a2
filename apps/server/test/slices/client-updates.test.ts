import { beforeEach, expect, test } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { day } from '../../src/core/clock.ts'
import { type Program, refusal } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import { updatesOn } from '../update-actor.ts'

const on = serverForAll({ RATE_LIMITS: 'on' })
const owner = ownerForEach(on)
const app = appForEach(owner)

const sha512 = 'a'.repeat(128)
const artifact = (platform: string, architecture: string, version: string, more: object = {}) => ({
  ...{
    platform,
    architecture,
    kind: 'installer',
    name: `atlas-${version}-${architecture}.exe`,
    size: 1000,
    sha512,
  },
  url: `https://example.com/atlas-${version}-${platform}-${architecture}.exe`,
  ...more,
})
const { makeKey, start, ...vendor } = updatesOn(on, owner, app)
const release = (version: string, days: number, more: object = {}) =>
  vendor.release(version, days, { link: `https://example.com/${version}`, ...more })
const windows = { platform: 'windows', architecture: 'x64' }
const updates = (call: Program['call'], fields: object = {}) =>
  call('POST', '/updates', { ...windows, ...fields })
const found = async (call: Program['call'], fields: object = {}) => {
  const { update, beyond } = (await updates(call, fields)).json.data
  return [update?.version ?? null, beyond?.version ?? null]
}

beforeEach(async () => {
  await release('1.0.0', 0)
  await release('2.0.0', 0, {
    artifacts: [artifact('windows', 'x64', '2.0.0'), artifact('macos', 'universal', '2.0.0')],
  })
  await release('3.0.0', 11, {
    artifacts: [artifact('windows', 'x64', '3.0.0')],
    notes: '# News',
    updatesFrom: '2.0.0',
  })
})

test('names the newest release that the license covers and this version may go to, and what a renewal brings', async () => {
  await owner.call('PUT', `/apps/${app._id}`, { settings: { buyUrl: 'https://shop.example/{reference}' } })
  const { key } = await makeKey()
  const call = await start('1.0.0')
  await call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })
  // Not out yet.
  expect(await found(call)).toEqual(['2.0.0', null])
  on.clock.advance(12 * day)
  const second = await start('2.0.0')
  await second('POST', '/license', { licenseKey: key, hwid: 'pc-1' })
  expect(await found(second)).toEqual([null, '3.0.0'])
  const { beyond } = (await updates(second)).json.data
  expect(beyond.links.buy).toMatch(/^https:\/\/shop\.example\/kwr_/)
  // 3.0.0 can be reached from 2.0.0 only.
  expect(await found(second, { version: '1.0.0' })).toEqual(['2.0.0', null])
  await on.database.db.updateTable('licenses').set({ updates_for_days: 20 }).execute()
  expect((await updates(second)).json.data).toEqual({
    update: {
      version: '3.0.0',
      releasedAt: on.clock.inDays(-1),
      notes: '# News',
      url: 'https://example.com/3.0.0',
      artifact: artifact('windows', 'x64', '3.0.0'),
      security: null,
    },
    beyond: null,
  })
  expect(await found(second, { platform: 'darwin', architecture: 'aarch64' })).toEqual([null, null])
  expect(await found(second, { platform: 'darwin', architecture: 'aarch64', version: '1.0.0' })).toEqual([
    '2.0.0',
    null,
  ])
  expect(await found(second, { channel: 'beta' })).toEqual([null, null])
  expect((await second('GET', '/session')).json.data.user.updateAvailable).toBe(true)
  expect(await found(second, { version: '3.0.0' })).toEqual([null, null])
})

test('a license that has ended gets what was out before, and every security fix', async () => {
  const license = await makeKey({ updates_for_days: null })
  const call = await start('1.0.0')
  await call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })
  on.clock.advance(5 * day)
  await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: on.clock.inDays(0) })
  on.clock.advance(7 * day)
  const later = await start('2.0.0')
  expect(refusal(await later('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' }))).toBe(
    'noActiveSubs',
  )
  expect(await found(later, { licenseKey: license.key })).toEqual([null, '3.0.0'])
  expect(await found(later, { licenseKey: license.key, version: '1.0.0' })).toEqual(['2.0.0', null])
  const security = {
    severity: 'critical',
    affects: [{ from: null, before: '2.0.1' }],
    summary: 'A file runs code',
  }
  await release('2.0.1', 0, { security })
  const { update, beyond } = (await updates(later, { licenseKey: license.key })).json.data
  expect([update.version, update.artifact, beyond.version]).toEqual(['2.0.1', null, '3.0.0'])
  expect(update.security).toEqual({ ...security, advisory: null })
})

test('a withdrawn release is offered to nobody from then on', async () => {
  const { key } = await makeKey()
  const call = await start('1.0.0')
  const sent = { licenseKey: key }
  const { config, database, clock, seal, server } = on
  const node =
    database.dialect === 'postgres'
      ? await buildApp({ config, database, clock, seal, consoleDir: '', logLevel: 'silent' })
      : server
  const isInFeed = async () => {
    const url = `/api/updates/${app.appId}/json/stable`
    return (await node.inject({ url, headers: { 'keyward-license': key } })).body.includes('"2.0.0"')
  }
  expect([await found(call, sent), await isInFeed()]).toEqual([['2.0.0', null], true])
  const { releases } = (await owner.call('GET', `/apps/${app._id}/releases`)).json.data
  const second = releases.find((one: { version: string }) => one.version === '2.0.0')
  expect((await owner.call('POST', `/releases/${second._id}/withdraw`)).status).toBe(200)
  expect([await found(call, sent), await isInFeed()]).toEqual([[null, null], false])
  if (node !== server) await node.close()
})

test('is checked like a session, and a wrong key counts', async () => {
  const license = await makeKey()
  const call = await start('1.0.0')
  expect(refusal(await updates(call))).toBe('sessionUnauthed')
  // An unused key is not used by it, and a machine does not matter.
  expect(await found(call, { licenseKey: license.key })).toEqual(['2.0.0', null])
  const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data
  expect(licenses).toMatchObject([{ used: false }])
  await call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })
  const other = await start('1.0.0')
  expect(await found(other, { licenseKey: license.key })).toEqual(['2.0.0', null])
  await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)
  expect(refusal(await updates(call))).toBe('keyBanned')
  expect(refusal(await updates(other, { licenseKey: license.key }))).toBe('keyBanned')
  await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)
  const misses = () =>
    Promise.all(Array.from({ length: 50 }, () => updates(other, { licenseKey: 'ABCDE-FGHIJ-KLMNP-QRSTU' })))
  expect((await misses()).map(({ json }) => json.code)).toContain('keyNotFound')
  await misses()
  expect((await updates(other, { licenseKey: license.key })).status).toBe(429)
  expect(await found(call)).toEqual(['2.0.0', null])
})

import { describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { makeApp, makeLicenses, makePremium, type Program, signUp, single, startProgram } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

/** Signs a machine in with its own key. */
async function runOn(
  hwid: string,
  version: string,
  key?: string,
): Promise<{ program: Program; key: string }> {
  const licenseKey = key ?? single<{ key: string }>(await makeLicenses(on, owner, app)).key
  const program = await startProgram(on, app, { version })
  expect((await program.call('POST', '/license', { licenseKey, hwid })).status).toBe(200)
  return { program, key: licenseKey }
}

const check = async ({ program }: { program: Program }) =>
  expect((await program.call('GET', '/session')).status).toBe(200)

const inUse = async () => (await owner.call('GET', `/apps/${app._id}/versions`)).json.data

const deviceOf = (hwid: string) =>
  on.database.db
    .selectFrom('devices')
    .select(['id', 'version', 'last_seen_at'])
    .where('app_id', '=', app._id)
    .where('hwid', '=', hwid)
    .executeTakeFirstOrThrow()

describe('versions in use', () => {
  test('counts bound devices by the version of their last sign-in or check', async () => {
    const first = await runOn('pc-1', '1.9.0')
    await runOn('pc-2', '1.10.0')
    await runOn('pc-3', 'nightly')
    on.clock.advance(2 * day)
    const atlas = await startProgram(on, app)
    const licenseKey = single<{ key: string }>(await makeLicenses(on, owner, app)).key
    expect((await atlas.call('POST', '/license', { licenseKey })).status).toBe(200)
    const body = {
      appId: app._id,
      username: 'gimli',
      password: 'swordfish',
      expiresAt: on.clock.inDays(9),
      hwid: 'pc-4',
    }
    expect((await owner.call('POST', '/clients/create-direct', body)).status).toBe(201)
    const seen = on.clock.inDays(-2)
    expect(await inUse()).toEqual({
      versions: [
        { version: '1.10.0', devices: 1, lastSeenAt: seen },
        { version: '1.9.0', devices: 1, lastSeenAt: seen },
        { version: 'nightly', devices: 1, lastSeenAt: seen },
      ],
      unknown: 1,
      unseen: 0,
    })
    await runOn('pc-1', '1.10.0', first.key)
    on.clock.advance(29 * day)
    expect(await inUse()).toEqual({
      versions: [{ version: '1.10.0', devices: 1, lastSeenAt: on.clock.inDays(-29) }],
      unknown: 1,
      unseen: 2,
    })
    const { id } = await deviceOf('pc-1')
    const { client_id } = await on.database.db
      .selectFrom('devices')
      .select('client_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect((await owner.call('DELETE', `/clients/${client_id}/devices/${id}`)).status).toBe(200)
    expect((await inUse()).versions).toEqual([])
    expect(
      await on.database.db.selectFrom('former_versions').selectAll().where('app_id', '=', app._id).execute(),
    ).toEqual([])
  })

  test('a check writes once a day for each version of a device', async () => {
    const old = await runOn('pc-1', '1.0.0')
    const fresh = await runOn('pc-1', '2.0.0', old.key)
    const version = async () => (await deviceOf('pc-1')).version
    expect(await version()).toBe('2.0.0')
    await check(old)
    await expect.poll(version).toBe('1.0.0')
    await check(old)
    await check(fresh)
    await check(old)
    await expect.poll(version).toBe('2.0.0')
  })

  test('keeps the versions that a device left last, however many it names', async () => {
    const { key } = await runOn('pc-1', '1.0.0')
    for (let at = 1; at <= 22; at += 1) {
      on.clock.advance(1)
      await runOn('pc-1', `1.${at}.0`, key)
    }
    const left = await on.database.db
      .selectFrom('former_versions')
      .select('version_order')
      .where('app_id', '=', app._id)
      .orderBy('version_order')
      .execute()
    expect(left).toHaveLength(20)
    expect(left[0]?.version_order).toBe('000000001.000000002.000000000')
  })
})

test('what was noted is written when the server stops', async () => {
  const other = await startServer()
  const vendor = await signUp(other)
  await makePremium(other, vendor)
  const atlas = await makeApp(vendor)
  const licenseKey = single<{ key: string }>(await makeLicenses(other, vendor, atlas)).key
  const program = await startProgram(other, atlas)
  await program.call('POST', '/license', { licenseKey, hwid: 'pc-1' })
  await other.database.db.updateTable('devices').set({ version: '0.9.0' }).execute()
  expect((await program.call('GET', '/session')).status).toBe(200)
  await other.server.close()
  expect(await other.database.db.selectFrom('devices').select('version').execute()).toEqual([
    { version: '1.0.0' },
  ])
  await other.close()
})

import { limits } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import {
  activateKey,
  makeLicenses,
  makePremium,
  refusal,
  registerUser,
  single,
  startProgram,
} from '../actors.ts'
import { appForEach, ownerForEach, serverForAll, tidyUp } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { offlineActor } from '../offline-actor.ts'
import { makeRequest } from '../offline-machine.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)
const max = limits.free.maxLicensesPerApp

let users = 0
const createDirect = (days = 10) =>
  owner.call('POST', '/clients/create-direct', {
    username: `user${++users}`,
    password: 'swordfish',
    appId: app.appId,
    expiresAt: on.clock.inDays(days),
  })
const createLicenses = (count: number) =>
  owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(30), count })
const extend = (id: string) => owner.call('PATCH', `/clients/${id}/extend`, { days: 30 })
const extendAll = (ids: string[]) => owner.call('POST', '/clients/bulk', { action: 'extend', ids, days: 30 })
const deleteLicenses = () => owner.call('DELETE', `/licenses?app=${app._id}`)

/** Inserts end users as an earlier version could leave them: without a license, with time remaining. */
async function insertDirect(count: number, expiresAt = on.clock.now() + day): Promise<string[]> {
  const rows = Array.from({ length: count }, () => ({
    id: `usr_${String(++users).padStart(32, '0')}`,
    owner_id: owner.id,
    app_id: app._id,
    license_id: null,
    username: `old${users}`,
    username_normalized: `old${users}`,
    email: null,
    password_hash: null,
    hwid: null,
    hwid_hash: null,
    expires_at: expiresAt,
    last_login_at: null,
    created_at: 1,
  }))
  await on.database.db.insertInto('clients').values(rows).execute()
  return rows.map(({ id }) => id)
}

/** Counts end users with access plus unused keys. */
async function countAccess(): Promise<number> {
  const clients = (await owner.call('GET', `/clients?app=${app._id}`)).json.data.stats
  const licenses = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.stats
  return clients.active + licenses.unused
}

const codes = (answers: Answer[]) => answers.filter(({ status }) => status >= 300).map(refusal)

describe('on the free plan, end users without a license', () => {
  test('use a place of the app until they expire', async () => {
    expect((await createLicenses(max - 2)).status).toBe(201)
    expect((await createDirect(10)).status).toBe(201)
    expect((await createDirect(20)).status).toBe(201)
    expect(refusal(await createDirect())).toBe('plan_limit_reached')
    expect(refusal(await createLicenses(1))).toBe('plan_limit_reached')
    on.clock.advance(10 * day)
    expect((await createDirect()).status).toBe(201)
    expect(refusal(await createDirect())).toBe('plan_limit_reached')
  })

  test('keep the limit when used licenses are deleted and their users extended', async () => {
    const made: string[] = []
    for (let key = 0; key < max; key += 1) made.push((await activateKey(on, owner, app)).user._id)
    expect((await deleteLicenses()).json.data.deletedCount).toBe(max)
    expect((await createLicenses(max)).status).toBe(201)
    for (const id of made.slice(0, 3)) expect(refusal(await extend(id))).toBe('plan_limit_reached')
    expect(refusal(await extendAll(made))).toBe('plan_limit_reached')
    expect(await countAccess()).toBe(max)

    await deleteLicenses()
    expect((await extendAll(made)).status).toBe(200)
    expect(refusal(await createLicenses(1))).toBe('plan_limit_reached')
    expect((await extend(made[0] ?? '')).status).toBe(200)
    expect(await countAccess()).toBe(max)
  })

  test('from an earlier version count immediately and block new or extended ones beyond the limit', async () => {
    const ids = await insertDirect(2 * max)
    for (const answer of [await createDirect(), await createLicenses(1), await extend(ids[0] ?? '')]) {
      expect(refusal(answer)).toBe('plan_limit_reached')
    }
    const body = { app: app._id, csv: `expiresAt\n${on.clock.inDays(9)}\n`, dryRun: true }
    expect((await owner.call('POST', '/licenses/import', body)).json.data).toMatchObject({ failed: 1 })
    expect(refusal(await owner.call('POST', '/licenses/import', { ...body, dryRun: false }))).toBe(
      'plan_limit_reached',
    )
    on.clock.advance(2 * day)
    expect((await createDirect()).status).toBe(201)
  })

  test('are not counted while they hold an added key', async () => {
    const { program, license, user } = await registerUser(on, owner, app)
    const added = single(await makeLicenses(on, owner, app))
    const answer = await program.call('POST', '/upgrade', { username: user.username, licenseKey: added.key })
    expect(answer.status).toBe(200)
    await owner.call('DELETE', `/licenses/${license._id}`)
    expect((await createLicenses(max - 1)).status).toBe(201)
    expect((await extend(user._id)).status).toBe(200)
    expect(refusal(await createLicenses(1))).toBe('plan_limit_reached')
  })
})

test('programs can redeem existing keys in a full app', async () => {
  const [first, second] = await makeLicenses(on, owner, app, 2)
  await insertDirect(2 * max)
  const register = { username: 'alice', password: 'swordfish', licenseKey: first?.key }
  expect((await (await startProgram(on, app)).call('POST', '/register', register)).status).toBe(200)
  const license = { licenseKey: second?.key }
  expect((await (await startProgram(on, app)).call('POST', '/license', license)).status).toBe(200)
})

test('extends end users with a license even above the limit after premium ended', async () => {
  await makePremium(on, owner)
  await createLicenses(max + 5)
  const { user } = await activateKey(on, owner, app)
  for (let made = 0; made < 5; made += 1) expect((await createDirect()).status).toBe(201)
  await on.database.db.updateTable('owners').set({ premium_until: 1 }).where('id', '=', owner.id).execute()
  expect((await extend(user._id)).status).toBe(200)
  expect((await extendAll([user._id])).status).toBe(200)
  expect(refusal(await createDirect())).toBe('plan_limit_reached')
})

test('32 concurrent callers fill the limit exactly and never exceed it', async () => {
  const ended = await insertDirect(12, on.clock.now() - 1)
  const calls = [
    ...Array.from({ length: 12 }, () => () => createDirect()),
    ...ended.slice(0, 10).map((id) => () => extend(id)),
    ...Array.from({ length: 8 }, () => () => createLicenses(2)),
    () => extendAll(ended.slice(10)),
    () => extendAll(ended.slice(8)),
  ]
  const answers = await Promise.all(calls.map((call) => call()))
  expect(new Set(codes(answers))).toEqual(new Set(['plan_limit_reached']))
  expect(await countAccess()).toBeLessThanOrEqual(max)
  while ((await createDirect()).status === 201) expect(await countAccess()).toBeLessThanOrEqual(max)
  expect(await countAccess()).toBe(max)
})

describe('on the free plan, activation files that run on', () => {
  const { activate, activated, deactivate, oneKey } = offlineActor(on, owner, app)
  const file = async (licenseKey: string, hwid: string) => activate(makeRequest(app, { licenseKey, hwid }))
  const room = async () => {
    for (let free = 0; ; free += 1) if ((await createLicenses(1)).status !== 201) return free
  }

  test('use a place after their license was deleted, until their code is entered', async () => {
    const { license, claims } = await activated()
    await owner.call('DELETE', `/licenses/${license._id}`)
    expect(await room()).toBe(max - 1)
    expect((await deactivate(claims.deactivation as string)).status).toBe(200)
    expect(await room()).toBe(1)
  })

  test('use a place after their end user was deleted, until they end', async () => {
    const { client } = await activated({ days: 20 })
    await owner.call('DELETE', `/clients/${client._id}`)
    // The license is stored, and unused again.
    expect(await room()).toBe(max - 2)
    on.clock.advance(20 * day)
    await tidyUp(on)
    expect(await room()).toBe(1)
  })

  test('use a place after their device was freed', async () => {
    const { client, activation } = await activated()
    expect(
      (await owner.call('DELETE', `/clients/${client._id}/devices/${activation.device._id}`)).status,
    ).toBe(200)
    expect(await room()).toBe(max - 2)
  })

  test('use no place while their license is stored and their device is bound', async () => {
    await activated()
    expect(await room()).toBe(max - 1)
  })

  test('cannot be made without end from one license: the plan bounds the machines that were freed', async () => {
    const { key } = await oneKey()
    for (let at = 0; at < max; at += 1) {
      const { status, json } = await file(key, `pc-${at}`)
      expect(status).toBe(201)
      await owner.call('PATCH', `/clients/${json.data.client._id}/reset-hwid`)
    }
    expect(refusal(await file(key, 'pc-another'))).toBe('plan_limit_reached')
    await makePremium(on, owner)
    expect((await file(key, 'pc-another')).status).toBe(201)
  })
})

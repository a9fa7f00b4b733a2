import { limits } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import {
  activateKey,
  makeLicenses,
  makePremium,
  onlyOne,
  refusal,
  registerUser,
  startProgram,
} from '../actors.ts'
import type { Answer } from '../harness.ts'
import { appForEach, ownerForEach, serverForAll } from '../stage.ts'

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

/** Rows as an earlier version may have left them: so many end users with remaining time and without a license. */
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

/** How many end users get in, and how many keys could let another one in. */
async function working(): Promise<number> {
  const clients = (await owner.call('GET', `/clients?app=${app._id}`)).json.data.stats
  const licenses = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.stats
  return clients.active + licenses.unused
}

const codes = (answers: Answer[]) => answers.filter(({ status }) => status >= 300).map(refusal)

describe('on the free plan end users without a license', () => {
  test('take a place of the app, until their time is over', async () => {
    expect((await createLicenses(max - 2)).status).toBe(201)
    expect((await createDirect(10)).status).toBe(201)
    expect((await createDirect(20)).status).toBe(201)
    expect(refusal(await createDirect())).toBe('plan_limit_reached')
    expect(refusal(await createLicenses(1))).toBe('plan_limit_reached')
    on.clock.advance(10 * day)
    expect((await createDirect()).status).toBe(201)
    expect(refusal(await createDirect())).toBe('plan_limit_reached')
  })

  test('cannot be worked around by deleting used licenses and extending their users', async () => {
    const made: string[] = []
    for (let key = 0; key < max; key += 1) made.push((await activateKey(on, owner, app)).user._id)
    expect((await deleteLicenses()).json.data.deletedCount).toBe(max)
    expect((await createLicenses(max)).status).toBe(201)
    for (const id of made.slice(0, 3)) expect(refusal(await extend(id))).toBe('plan_limit_reached')
    expect(refusal(await extendAll(made))).toBe('plan_limit_reached')
    expect(await working()).toBe(max)

    await deleteLicenses()
    expect((await extendAll(made)).status).toBe(200)
    expect(refusal(await createLicenses(1))).toBe('plan_limit_reached')
    expect((await extend(made[0] ?? '')).status).toBe(200)
    expect(await working()).toBe(max)
  })

  test('of an earlier version count at once: nothing more is made or extended beyond the limit', async () => {
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

  test('are not counted while a key that was added to them is stored', async () => {
    const { program, license, user } = await registerUser(on, owner, app)
    const added = onlyOne(await makeLicenses(on, owner, app))
    const answer = await program.call('POST', '/upgrade', { username: user.username, licenseKey: added.key })
    expect(answer.status).toBe(200)
    await owner.call('DELETE', `/licenses/${license._id}`)
    expect((await createLicenses(max - 1)).status).toBe(201)
    expect((await extend(user._id)).status).toBe(200)
    expect(refusal(await createLicenses(1))).toBe('plan_limit_reached')
  })
})

test('programs use up keys that exist, however full the app is', async () => {
  const [first, second] = await makeLicenses(on, owner, app, 2)
  await insertDirect(2 * max)
  const register = { username: 'alice', password: 'swordfish', licenseKey: first?.key }
  expect((await (await startProgram(on, app)).call('POST', '/register', register)).status).toBe(200)
  const license = { licenseKey: second?.key }
  expect((await (await startProgram(on, app)).call('POST', '/license', license)).status).toBe(200)
})

test('end users with a license are extended, however many there are since premium was', async () => {
  await makePremium(on, owner)
  await createLicenses(max + 5)
  const { user } = await activateKey(on, owner, app)
  for (let made = 0; made < 5; made += 1) expect((await createDirect()).status).toBe(201)
  await on.database.db.updateTable('owners').set({ premium_until: 1 }).where('id', '=', owner.id).execute()
  expect((await extend(user._id)).status).toBe(200)
  expect((await extendAll([user._id])).status).toBe(200)
  expect(refusal(await createDirect())).toBe('plan_limit_reached')
})

test('32 callers at once never pass the limit, and all that fits is made', async () => {
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
  expect(await working()).toBeLessThanOrEqual(max)
  while ((await createDirect()).status === 201) expect(await working()).toBeLessThanOrEqual(max)
  expect(await working()).toBe(max)
})

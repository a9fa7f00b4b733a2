// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { makeApp, makePremium, signUp } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

const signIn = ({ email, password }: { email: string; password: string }) =>
  on.call('POST', '/resellers/auth/login', { body: { email, password } })

test('returns a reseller with its quota and where it is signed in, without tokens and programs', async () => {
  const reseller = await makeReseller(on, owner, app, 5)
  await reseller.call('POST', '/licenses', { count: 2, expiresAt: on.clock.inDays(30) })
  const { status, json } = await owner.call('GET', `/resellers/${reseller._id}`)
  expect(status).toBe(200)
  expect(json.data).toEqual({
    reseller: {
      _id: reseller._id,
      email: reseller.email,
      app_id: { _id: app._id, name: app.name },
      allowed_license_keys: 5,
      created_licenses: 2,
      remaining_licenses: 3,
      createdAt: expect.any(String),
      active: true,
    },
    sessions: [
      {
        _id: expect.stringMatching(/^ses_/),
        address: '127.0.0.1',
        createdAt: expect.any(String),
        lastUsedAt: expect.any(String),
      },
    ],
  })
})

test('lists at most the open sessions that a reseller can have, last used first', async () => {
  const reseller = await makeReseller(on, owner, app)
  on.clock.advance(60_000)
  await signIn(reseller)
  const { sessions } = (await owner.call('GET', `/resellers/${reseller._id}`)).json.data
  const times = sessions.map(({ lastUsedAt }: { lastUsedAt: string }) => lastUsedAt)
  expect(times).toHaveLength(2)
  expect(times).toEqual(times.toSorted().toReversed())
})

test('network addresses are shown to those who see the sign-ins in the audit log, and to no one else', async () => {
  const reseller = await makeReseller(on, owner, app)
  const readers = [
    [await addMember(on, owner, { role: 'manager' }), '127.0.0.1'],
    [await addMember(on, owner, { role: 'manager', apps: [app._id] }), null],
    [await makeApiKey(on, owner, { permissions: ['resellers:read', 'audit:read'] }), '127.0.0.1'],
    [await makeApiKey(on, owner, { permissions: ['resellers:read'] }), null],
  ] as const
  for (const [reader, address] of readers) {
    const { status, json } = await reader.call('GET', `/resellers/${reseller._id}`)
    expect([status, json.data.sessions[0].address]).toEqual([200, address])
  }
})

test('ending the sessions of a reseller signs it out everywhere; it can sign in again', async () => {
  const reseller = await makeReseller(on, owner, app)
  await signIn(reseller)
  const ended = await owner.call('DELETE', `/resellers/${reseller._id}/sessions`)
  expect([ended.status, ended.json.message]).toEqual([200, 'The reseller has been signed out everywhere.'])
  expect((await reseller.call('GET', '/profile')).status).toBe(401)
  expect((await owner.call('GET', `/resellers/${reseller._id}`)).json.data.sessions).toEqual([])
  expect((await signIn(reseller)).status).toBe(200)
})

test('ending sessions is recorded with the owner, once for all of them', async () => {
  const reseller = await makeReseller(on, owner, app)
  for (let at = 0; at < 2; at += 1) await owner.call('DELETE', `/resellers/${reseller._id}/sessions`)
  const path = `/audit?action=reseller.sessions_ended&subject=${reseller._id}`
  const { records } = (await owner.call('GET', path)).json.data
  expect(records).toHaveLength(1)
  expect(records[0]).toMatchObject({ actor: { _id: owner.accountId }, app: { _id: app._id } })
})

test('leaves the sessions of other resellers, also of the same vendor', async () => {
  const [first, second] = [await makeReseller(on, owner, app), await makeReseller(on, owner, app)]
  await owner.call('DELETE', `/resellers/${first._id}/sessions`)
  expect((await second.call('GET', '/profile')).status).toBe(200)
})

test('a reseller of another vendor, or of an app that a member or API key does not have, is a missing one', async () => {
  const stranger = await signUp(on)
  await makePremium(on, stranger)
  const second = await makeApp(owner, 'Second')
  const reseller = await makeReseller(on, owner, app)
  const member = await addMember(on, owner, { role: 'manager', apps: [second._id] })
  const permissions = ['resellers:read', 'resellers:write']
  const key = await makeApiKey(on, owner, { permissions, apps: [second._id] })
  for (const caller of [stranger, member, key]) {
    for (const [method, end] of [
      ['GET', ''],
      ['DELETE', '/sessions'],
    ] as const) {
      const foreign = await caller.call(method, `/resellers/${reseller._id}${end}`)
      const missing = await caller.call(method, `/resellers/res_missing${end}`)
      expect([foreign.status, foreign.json]).toEqual([404, missing.json])
    }
  }
  expect((await reseller.call('GET', '/profile')).status).toBe(200)
})

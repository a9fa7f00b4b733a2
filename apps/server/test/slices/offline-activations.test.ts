// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { allApps } from '../../src/core/actor.ts'
import { day } from '../../src/core/clock.ts'

import { lockEndUser } from '../../src/modules/end-users/end-users.access.ts'
import { lockLicensesOf } from '../../src/modules/entitlements/license-rows.ts'
import { hashed, makePremium, refusal, wrongFields } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import { offlineActor } from '../offline-actor.ts'
import { makeRequest, readFile, requestBody, requestOf } from '../offline-machine.ts'
import { recount } from '../recount.ts'
import { makeReseller } from '../reseller-actor.ts'
import { times } from '../rounds.ts'

const on = serverForAll({}, { gateSizes: { requests: { running: 100, waiting: 0 } } })
const owner = ownerForEach(on)
const app = appForEach(owner)
const { activate, deactivate, list, oneKey, devicesOf, clientOf, activated } = offlineActor(on, owner, app)
const reasonOf = ({ json }: { json: { details?: { reason?: string } } }) => json.details?.reason

describe('a request', () => {
  test('redeems an unused key, takes one device and returns the file', async () => {
    const license = await oneKey()
    const nonce = Buffer.from('0011223344556677', 'hex')
    const request = makeRequest(app, { licenseKey: license.key, nonce })
    const { status, json } = await activate(request)
    expect(status).toBe(201)
    const { file, activation, client } = json.data
    const { claims, kids } = await readFile(on, app, file)
    const end = Math.floor(Date.parse(license.expiresAt) / 1000)
    expect(kids).toHaveLength(1)
    expect(claims).toEqual({
      iss: 'keyward',
      aud: app.appId,
      sub: client._id,
      hwid: hashed('pc-1'),
      nonce: '0011223344556677',
      iat: Math.floor(on.clock.now() / 1000),
      exp: end,
      seq: 1,
      features: [],
      username: license.key,
      term: 'date',
      expiresAt: license.expiresAt,
      deactivation: expect.stringMatching(/^KWD1(-[0-9A-HJKMNP-TV-Z]{4}){4}$/),
    })
    const until = new Date(end * 1000).toISOString()
    expect(client).toMatchObject({ username: license.key, offline: { until }, lastLoginAt: null })
    expect(activation).toMatchObject({
      _id: expect.stringMatching(/^ofa_/),
      client: { _id: client._id, username: license.key, name: null },
      licenseKey: license.key,
      status: 'active',
      until,
      hwidHash: hashed('pc-1'),
      endedAt: null,
    })
    const { devices, used } = await devicesOf(client._id)
    expect({ used, devices }).toMatchObject({
      used: 1,
      devices: [{ _id: activation.device._id, offline: { until } }],
    })
    expect(await list()).toMatchObject({ activations: [activation], pagination: { total: 1 } })
    await owner.call('PATCH', `/clients/${client._id}`, { customer: 'carla@buyers.example' })
    expect((await list()).activations[0].client).toMatchObject({ name: 'carla@buyers.example' })
    expect((await recount(on)).kept).toEqual((await recount(on)).counted)
  })

  test('that is repeated with fewer days keeps the end of the longer file', async () => {
    const { request, activation, client } = await activated({ days: 20 })
    const { json } = await activate(request, { days: 1 })
    const { claims } = await readFile(on, app, json.data.file)
    expect(claims.exp).toBe(Math.floor((on.clock.now() + day) / 1000))
    expect(json.data.activation).toMatchObject({ _id: activation._id, until: activation.until })
    expect((await clientOf(client._id)).offline).toEqual({ until: activation.until })
    expect((await devicesOf(client._id)).devices).toMatchObject([{ offline: { until: activation.until } }])
  })

  test('is read as people type it', async () => {
    const { key } = await oneKey()
    const request = makeRequest(app, { licenseKey: key, nonce: Buffer.alloc(8) })
    const typed = ` ${request.toLowerCase().replaceAll('-', ' – ').replaceAll('0', 'o').replaceAll('1', 'l')}\n`
    expect((await activate(typed.replace('kwrl', 'kwr1'))).status).toBe(201)
  })

  test('finds keys as sign-ins do', async () => {
    const { key } = await oneKey()
    const typed = key.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')
    const { status, json } = await activate(makeRequest(app, { licenseKey: typed }))
    expect({ status, key: json.data?.activation.licenseKey }).toEqual({ status: 201, key })
    const foreign = await activate(makeRequest(app, { licenseKey: 'ключ-鍵-😀' }))
    expect(reasonOf(foreign)).toBe('keyNotFound')
  })

  test.each<[string, (appId: string, key: string) => string]>([
    ['nothing', () => ' '],
    ['rubbish', () => 'KWR1-HELLO-WORLD'],
    ['no prefix', (appId, licenseKey) => makeRequest({ appId }, { licenseKey }).slice(5)],
    ['another app', (_, licenseKey) => makeRequest({ appId: 'ZZZZZZZZ' }, { licenseKey })],
    ['another version', (appId, licenseKey) => makeRequest({ appId }, { licenseKey, version: 2 })],
    ['no key', (appId) => makeRequest({ appId }, { licenseKey: '' })],
    ['blanks around its key', (appId, key) => makeRequest({ appId }, { licenseKey: ` ${key}` })],
    ['a key that is too long', (appId) => makeRequest({ appId }, { licenseKey: 'x'.repeat(101) })],
    [
      'bytes that are no text',
      (appId) => requestOf(appId, Buffer.concat([requestBody({ licenseKey: '' }), Buffer.of(0xff, 0xfe)])),
    ],
    ['a symbol too many', (appId, licenseKey) => `${makeRequest({ appId }, { licenseKey })}00`],
    ['a deactivation code', () => 'KWD1-0000-0000-0000-0000'],
    ['too much text', (appId, licenseKey) => makeRequest({ appId }, { licenseKey }).padEnd(4001, '-0')],
  ])('with %s is rejected on its field, and nothing is taken', async (_, make) => {
    const { key } = await oneKey()
    const answer = await activate(make(app.appId, key))
    expect(refusal(answer)).toBe('invalid_input')
    expect(wrongFields(answer)).toEqual(['request'])
    expect(await list()).toMatchObject({ activations: [] })
  })

  test('with any symbol mistyped is rejected', async () => {
    const { key } = await oneKey()
    const request = makeRequest(app, { licenseKey: key })
    for (let at = 5; at < request.length; at += 7) {
      if (request[at] === '-') continue
      const wrong = request.slice(0, at) + (request[at] === 'A' ? 'B' : 'A') + request.slice(at + 1)
      expect(refusal(await activate(wrong))).toBe('invalid_input')
    }
  })

  test('of a megabyte is refused before it is read', async () => {
    expect(refusal(await activate('K'.repeat(1_000_000)))).toBe('payload_too_large')
  })

  test('repeated returns a file again, the same code, and takes no second device', async () => {
    const { request, activation, claims, client } = await activated()
    on.clock.advance(day)
    const again = (await activate(request)).json.data
    const read = await readFile(on, app, again.file)
    expect(again.activation._id).toBe(activation._id)
    expect(read.claims).toEqual({ ...claims, iat: claims.iat + 86_400, seq: 2 })
    expect((await devicesOf(client._id)).used).toBe(1)
    expect((await list()).activations).toHaveLength(1)
  })

  test('of the same machine replaces the earlier one, whose code says so', async () => {
    const { license, claims, client } = await activated()
    const next = await activate(makeRequest(app, { licenseKey: license.key }))
    expect(next.status).toBe(201)
    expect((await devicesOf(client._id)).used).toBe(1)
    const { activations } = await list()
    expect(activations.map(({ status }: { status: string }) => status)).toEqual(['active', 'replaced'])
    expect(refusal(await deactivate(claims.deactivation))).toBe('offline_code_replaced')
    const { claims: newest } = await readFile(on, app, next.json.data.file)
    expect((await deactivate(newest.deactivation)).json.data.client.offline).toBeNull()
    expect((await list()).activations.map(({ status }: { status: string }) => status)).toEqual([
      'deactivated',
      'deactivated',
    ])
  })

  test('with a shorter file does not hide the earlier file, which may still run', async () => {
    const { license, activation, client } = await activated()
    for (let count = 0; count < 25; count++) {
      await activate(makeRequest(app, { licenseKey: license.key }), { days: 1 })
    }
    expect((await clientOf(client._id)).offline).toEqual({ until: activation.until })
    await owner.call('PATCH', `/clients/${client._id}/reset-hwid`)
    const other = makeRequest(app, { licenseKey: license.key, hwid: 'pc-2' })
    const { file } = (await activate(other, { days: 1 })).json.data
    const { claims } = await readFile(on, app, file)
    const ended = await deactivate(claims.deactivation)
    expect(ended.json.data.client.offline).toEqual({ until: activation.until })
  })

  test('many times from one machine keeps twenty replaced activations', async () => {
    const { license } = await activated()
    for (let count = 0; count < 25; count++) await activate(makeRequest(app, { licenseKey: license.key }))
    expect((await list()).pagination.total).toBe(21)
  })
})

describe('concurrent', () => {
  test('requests of 32 machines take the last place once', async () => {
    const license = await oneKey()
    const answers = await times(32, (at) =>
      activate(makeRequest(app, { licenseKey: license.key, hwid: `pc-${at}` })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(answers.filter(({ status }) => status !== 201).map(reasonOf))).toEqual(
      new Set(['hwidMismatch']),
    )
    const { activations } = await list()
    expect(activations).toHaveLength(1)
    expect((await devicesOf(activations[0].client._id)).used).toBe(1)
    expect((await recount(on)).kept).toEqual((await recount(on)).counted)
  })

  test('copies of one request make one activation', async () => {
    const license = await oneKey()
    const request = makeRequest(app, { licenseKey: license.key })
    const answers = await times(32, () => activate(request))
    expect(answers.map(({ status }) => status)).toEqual(Array(32).fill(201))
    const { activations } = await list()
    expect(activations).toHaveLength(1)
    expect((await devicesOf(activations[0].client._id)).used).toBe(1)
    const files = await Promise.all(answers.map(({ json }) => readFile(on, app, json.data.file)))
    expect(new Set(files.map(({ claims }) => claims.deactivation)).size).toBe(1)
    expect(new Set(files.map(({ claims }) => claims.seq)).size).toBe(32)
  })

  test('requests wait for a change that has locked the license, without a deadlock', async () => {
    const { license, client } = await activated()
    const { waiting } = await on.database.db.transaction().execute(async (tx) => {
      const { owner_id: ownerId } = await tx
        .selectFrom('clients')
        .select('owner_id')
        .where('id', '=', client._id)
        .executeTakeFirstOrThrow()
      await lockLicensesOf(tx, allApps(ownerId), { clients: [client._id] })
      const waiting = activate(makeRequest(app, { licenseKey: license.key }))
      await setTimeout(300)
      if (on.database.dialect === 'postgres') await sql`set local lock_timeout = '300ms'`.execute(tx)
      await lockEndUser(tx, allApps(ownerId), client._id)
      return { waiting }
    })
    expect((await waiting).status).toBe(201)
  })
})

test('the file is signed with every key that is not revoked', async () => {
  await owner.call('POST', `/apps/${app._id}/signing-keys`)
  const { json } = await owner.call('GET', `/apps/${app._id}/signing-keys`)
  const kids = json.data.signingKeys.map(({ kid }: { kid: string }) => kid)
  const { key } = await oneKey()
  const request = makeRequest(app, { licenseKey: key })
  const both = await readFile(on, app, (await activate(request)).json.data.file)
  expect(both.kids.toSorted()).toEqual(kids.toSorted())
  const next = kids[0]
  await owner.call('POST', `/apps/${app._id}/signing-keys/${next}/revoke`)
  const one = await readFile(on, app, (await activate(request)).json.data.file)
  expect(one.kids).toEqual(kids.filter((kid: string) => kid !== next))
})

describe('the list', () => {
  test('is paged, newest first, and filtered by end user', async () => {
    const made = []
    for (let count = 0; count < 5; count++) {
      made.unshift((await activated()).activation)
      on.clock.advance(1)
    }
    const ids = async (query: string) =>
      (await list(query)).activations.map(({ _id }: { _id: string }) => _id)
    const all = made.map(({ _id }) => _id)
    expect(await ids('?limit=2')).toEqual(all.slice(0, 2))
    expect(await ids('?limit=2&page=2')).toEqual(all.slice(2, 4))
    expect(await ids('?limit=2&page=3')).toEqual(all.slice(4))
    expect(await ids('?limit=2&page=4')).toEqual([])
    expect(await ids(`?client=${made[2].client._id}`)).toEqual([all[2]])
  })

  test('of a foreign end user is not found, and a reseller sees none', async () => {
    const missing = await owner.call('GET', `/apps/${app._id}/offline-activations?client=usr_0`)
    expect(refusal(missing)).toBe('not_found')
    await makePremium(on, owner)
    const reseller = await makeReseller(on, owner, app)
    for (const [method, path, body] of [
      ['GET', 'offline-activations', undefined],
      ['POST', 'offline-activations', { request: 'KWR1' }],
      ['POST', 'offline-deactivations', { code: 'KWD1' }],
    ] as const) {
      const call = on.call(method, `/apps/${app._id}/${path}`, { token: reseller.token, body })
      expect(refusal(await call)).toBe('unauthorized')
    }
  })
})

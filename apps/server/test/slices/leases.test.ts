import { createPublicKey, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  activateKey,
  hashed,
  makeLicenses,
  type Owner,
  type Program,
  refusal,
  startProgram,
} from '../actors.ts'
import { setLicense } from '../devices.ts'
import { keysOf } from '../exchange.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner: Owner = ownerForEach(on)
const app = appForEach(owner)
const hour = 3_600_000

interface Claims {
  iat: number
  exp: number
  refreshAfter: number
  graceUntil: number
  seq: number
  [name: string]: unknown
}

/** Takes a lease apart after verifying it with the app's published key. */
async function read(lease: string): Promise<{ header: object; claims: Claims }> {
  const [header, claims, signature] = lease.split('.') as [string, string, string]
  const [jwk] = await keysOf(on, app.appId)
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: jwk!.x }, format: 'jwk' })
  expect(verify(null, Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(
    true,
  )
  const parse = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  return { header: parse(header), claims: parse(claims) }
}

const ask = (program: Program, hwid = 'pc-1') => program.call('POST', '/lease', { hwid })
const setVariables = (path: string, variables: object[]) =>
  owner.call('PUT', `${path}/variables`, { variables })
const lease = async (program: Program) => read((await ask(program)).json.data.lease)

test('names app, user and device, and is typed so that it never passes for an answer', async () => {
  const { program, user } = await activateKey(on, owner, app, 'pc-1')
  const { header, claims } = await lease(program)
  const [jwk] = await keysOf(on, app.appId)
  expect(header).toEqual({ alg: 'EdDSA', typ: 'keyward-lease+jws', kid: jwk!.kid })
  const iat = Math.floor(on.clock.now() / 1000)
  expect(claims).toEqual({
    iss: 'keyward',
    aud: app.appId,
    sub: user._id,
    hwid: hashed('pc-1'),
    iat,
    refreshAfter: iat + 36 * 3600,
    exp: iat + 72 * 3600,
    graceUntil: iat + (72 + 168) * 3600,
    seq: 1,
    features: [],
  })
  expect((await lease(program)).claims.seq).toBe(2)
})

test('never works beyond the end of the subscription', async () => {
  const [license] = await makeLicenses(on, owner, app, 1, 2)
  const program = await startProgram(on, app)
  const { json } = await program.call('POST', '/license', { licenseKey: license!.key, hwid: 'pc-1' })
  const end = Math.floor(Date.parse(json.data.user.expiresAt) / 1000)
  expect((await lease(program)).claims).toMatchObject({ exp: end, graceUntil: end })
})

test('ends with the seat of a floating license, which another machine then takes', async () => {
  const [license] = await makeLicenses(on, owner, app)
  await setLicense(on, license!, { seats: 1, seat_timeout_seconds: 600 })
  const signIn = async (hwid: string) => {
    const program = await startProgram(on, app)
    return { program, answer: await program.call('POST', '/license', { licenseKey: license!.key, hwid }) }
  }
  const { program } = await signIn('pc-1')
  const { claims } = await lease(program)
  const seconds = (end: number) => end - claims.iat
  expect([seconds(claims.refreshAfter), seconds(claims.exp), seconds(claims.graceUntil)]).toEqual([
    300, 600, 600,
  ])
  expect(refusal((await signIn('pc-2')).answer)).toBe('noSeats')
  on.clock.advance(600_001)
  expect((await signIn('pc-2')).answer.status).toBe(200)
  expect(claims.graceUntil * 1000).toBeLessThan(on.clock.now())
  expect(refusal(await ask(program))).toBe('noSeats')
})

test("has the app's lengths", async () => {
  const { program } = await activateKey(on, owner, app, 'pc-1')
  await owner.call('PUT', `/apps/${app._id}`, { settings: { leaseHours: 1, graceHours: 0 } })
  const { claims } = await lease(program)
  expect([claims.exp - claims.iat, claims.graceUntil - claims.exp, claims.refreshAfter - claims.iat]).toEqual(
    [3600, 0, 1800],
  )
  for (const settings of [{ leaseHours: 0 }, { leaseHours: 2161 }, { graceHours: -1 }, { graceHours: 2161 }])
    expect((await owner.call('PUT', `/apps/${app._id}`, { settings })).status).toBe(400)
})

test('is refused to another device, without a sign-in, and to every user that a check refuses', async () => {
  const { program, user } = await activateKey(on, owner, app, 'pc-1')
  expect(refusal(await ask(program, 'pc-2'))).toBe('hwidMismatch')
  expect((await ask(program, '')).status).toBe(400)
  expect(refusal(await ask(await startProgram(on, app)))).toBe('sessionUnauthed')
  const unlocked = await activateKey(on, owner, app)
  expect(refusal(await ask(unlocked.program))).toBe('hwidMismatch')

  await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, { is_banned: true })
  expect(refusal(await ask(program))).toBe('userBanned')
  await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, { is_banned: false })
  on.clock.advance(31 * 24 * hour)
  expect(refusal(await ask(program))).toBe('sessionUnauthed')
})

test('is signed by a key that the program pins', async () => {
  const { program } = await activateKey(on, owner, app, 'pc-1')
  const made = await owner.call('POST', `/apps/${app._id}/signing-keys`)
  const { kid } = made.json.data.signingKeys[0]
  const { json } = await program.call(
    'POST',
    '/lease',
    { hwid: 'pc-1' },
    { headers: { 'keyward-keys': kid } },
  )
  expect((await read(json.data.lease)).header).toMatchObject({ kid })
})

test('numbers of concurrent leases are distinct', async () => {
  const { program } = await activateKey(on, owner, app, 'pc-1')
  const leases = await Promise.all(Array.from({ length: 16 }, () => lease(program)))
  expect(leases.map(({ claims }) => claims.seq).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 16 }, (_, index) => index + 1),
  )
})

test('a shorter lease does not hide that a longer one still works', async () => {
  const { program, user } = await activateKey(on, owner, app, 'pc-1')
  const { claims } = await lease(program)
  await owner.call('PUT', `/apps/${app._id}`, { settings: { leaseHours: 1, graceHours: 0 } })
  await lease(program)
  const row = await on.database.db
    .selectFrom('clients')
    .select('lease_until')
    .where('id', '=', user._id)
    .executeTakeFirstOrThrow()
  expect(row.lease_until).toBe(claims.graceUntil * 1000)
})

test('carries the variables for offline use, with the values of the end user, and no others', async () => {
  const { program, user } = await activateKey(on, owner, app, 'pc-1')
  const common = { name: 'endpoint', value: 'https://a.example', public: true, offline: true }
  const quota = { name: 'quota', value: '5', public: false, offline: true }
  const secret = { name: 'secret', value: 'online only', public: false, offline: false }
  const older = { name: 'older', value: 'online only', public: false }
  await setVariables(`/apps/${app._id}`, [common, quota, secret, older])
  expect((await lease(program)).claims.variables).toEqual({ endpoint: common.value, quota: '5' })
  await setVariables(`/clients/${user._id}`, [
    { name: 'quota', value: '9' },
    { name: 'secret', value: 'mine' },
  ])
  expect((await lease(program)).claims.variables).toEqual({ endpoint: common.value, quota: '9' })
  await setVariables(`/apps/${app._id}`, [secret])
  expect((await lease(program)).claims).not.toHaveProperty('variables')
})

test('stays short, however long the own values of an end user are', async () => {
  const { program, user } = await activateKey(on, owner, app, 'pc-1')
  const offline = { public: false, offline: true }
  await setVariables(`/apps/${app._id}`, [
    { name: 'quota', value: '5', ...offline },
    { name: 'note', value: 'short', ...offline },
  ])
  await setVariables(`/clients/${user._id}`, [{ name: 'note', value: 'x'.repeat(9_000) }])
  expect((await lease(program)).claims.variables).toEqual({ quota: '5' })
})

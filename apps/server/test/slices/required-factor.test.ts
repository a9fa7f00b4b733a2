// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import { makeApp, makePremium, type Owner, refusal, signUp } from '../actors.ts'
import { addPasskey, addTotp, askedBy, type Person, signIn } from '../factors.ts'
import { serverForAll } from '../fixtures.ts'
import { makeReseller } from '../reseller-actor.ts'
import { statementsOf } from '../statements.ts'

const on = serverForAll()

/** A manager of the vendor, signed in to it. */
async function makeMember(owner: Owner): Promise<Person> {
  const { accountId, email, password } = await signUp(on)
  const { db } = on.database
  await db
    .insertInto('members')
    .values({
      id: `mem_${accountId}`,
      owner_id: owner.id,
      account_id: accountId,
      email: null,
      email_normalized: null,
      role: 'manager',
      apps: null,
      token_hash: null,
      token_expires_at: null,
      created_at: 0,
      last_used_at: null,
    })
    .execute()
  await db.updateTable('accounts').set({ last_owner_id: owner.id }).where('id', '=', accountId).execute()
  const { token } = (await signIn(on, { base: '/auth', email, password, token: '' })).json.data
  return { base: '/auth', email, password, token }
}

const get = ({ token }: Person, path: string) => on.call('GET', path, { token })
const require = (owner: Owner, requireSecondFactor: boolean) =>
  owner.call('PUT', '/settings', { requireSecondFactor })

test('a member without a factor reaches its own account alone once the owner requires one', async () => {
  const owner = await signUp(on)
  const member = await makeMember(owner)
  expect((await get(member, '/apps')).status).toBe(200)
  const set = await require(owner, true)
  expect(set.json.data).toMatchObject({ requireSecondFactor: true })
  expect(refusal(await get(member, '/apps'))).toBe('second_factor_required')
  const create = await on.call('POST', '/apps', { token: member.token, body: { name: 'Mine' } })
  expect(refusal(create)).toBe('second_factor_required')
  expect((await get(member, '/auth/profile')).status).toBe(200)
  // A new session does not help.
  const { token } = (await signIn(on, member)).json.data
  expect(refusal(await get({ ...member, token }, '/apps'))).toBe('second_factor_required')
  const { passkey } = await addPasskey(on, member)
  expect((await get(member, '/apps')).status).toBe(200)
  await askedBy(on, member)
  await on.call('DELETE', `/auth/passkeys/${passkey._id}`, { token: member.token })
  expect(refusal(await get(member, '/apps'))).toBe('second_factor_required')
  await require(owner, false)
  expect((await get(member, '/apps')).status).toBe(200)
})

test('the owner is not refused, nor a member of another vendor', async () => {
  const owner = await signUp(on)
  const stranger = await makeMember(await signUp(on))
  await require(owner, true)
  expect((await owner.call('GET', '/apps')).status).toBe(200)
  expect((await get(stranger, '/apps')).status).toBe(200)
})

test('only the owner can require a second factor', async () => {
  const owner = await signUp(on)
  const member = await makeMember(owner)
  const change = (body: object) => on.call('PUT', '/settings', { token: member.token, body })
  expect(refusal(await change({ requireSecondFactor: true }))).toBe('permission_missing')
  expect(refusal(await change({ requireSecondFactor: false, hwidLock: false }))).toBe('permission_missing')
  const { data } = (await get(member, '/settings')).json
  expect(data).toEqual({ pauseApplications: false, hwidLock: true, requireSecondFactor: false })
})

test('requiring a second factor needs a proof of identity, and no API key can do it', async () => {
  const owner = await signUp(on)
  const { key } = (await owner.call('POST', '/api-keys', { name: 'Script', permissions: ['settings:write'] }))
    .json.data
  const body = { requireSecondFactor: true }
  expect(refusal(await on.call('PUT', '/settings', { token: key, body }))).toBe('api_key_not_allowed')
  on.clock.advance(10 * minute)
  expect(refusal(await require(owner, true))).toBe('confirm_identity')
  expect((await owner.call('PUT', '/settings', { hwidLock: false })).status).toBe(200)
  await owner.call('POST', '/auth/confirm', { password: owner.password })
  expect((await require(owner, true)).status).toBe(200)
})

test('the requirement costs no further query', async () => {
  const owner = await signUp(on)
  const member = await makeMember(owner)
  const countOnce = async () =>
    (await statementsOf(on.database, async () => void (await get(member, '/apps')))).length
  // What follows a sign-in, such as mails about new devices, may run beside one of the requests.
  const count = async () => Math.min(await countOnce(), await countOnce(), await countOnce())
  const before = await count()
  await addTotp(on, member)
  await require(owner, true)
  expect(await count()).toBe(before)
})

test('an owner removes the second factors of its resellers, and of no others', async () => {
  const [owner, other] = [await signUp(on), await signUp(on)]
  await makePremium(on, owner)
  const reseller = await makeReseller(on, owner, await makeApp(owner))
  const person: Person = { base: '/resellers/auth', ...reseller }
  await addTotp(on, person)
  const reset = (by: Owner) => by.call('DELETE', `/resellers/${reseller._id}/second-factor`)
  expect(refusal(await reset(other))).toBe('not_found')
  await askedBy(on, person)
  expect((await reset(owner)).status).toBe(200)
  expect(refusal(await reseller.call('GET', '/profile'))).toBe('unauthorized')
  expect((await signIn(on, person)).json.data.token).toEqual(expect.any(String))
})

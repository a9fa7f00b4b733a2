import { limits } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { day, hour, minute } from '../../src/core/clock.ts'
import { resetOwnerPassword } from '../../src/modules/account/account.operator.ts'
import { makeApp, refusal, signUp, wrongFields } from '../actors.ts'
import { ownerForEach, serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'
import { addMember, addPerson, invite, newAddress } from '../member-actor.ts'
import { insertOwners } from '../owner-rows.ts'

const on = serverForAll()
const owner = ownerForEach(on)

const accept = (body: object) => on.call('POST', '/auth/invitations/accept', { body })
const login = (person: { email: string; password: string }) =>
  on.call('POST', '/auth/login', { body: { email: person.email, password: person.password } })
const vendorsOf = async (token: string) =>
  (await on.call('GET', '/auth/vendors', { token })).json.data.vendors
const openedBy = async (person: { email: string; password: string }) =>
  (await login(person)).json.data.user.vendor._id
const open = (token: string, _id: string) => on.call('POST', '/auth/vendor', { token, body: { _id } })

describe('accepting an invitation', () => {
  test('with a new address creates an account without a vendor of its own, also where registration is closed', async () => {
    const closed = await startServer()
    try {
      const inviter = await signUp(closed)
      closed.config.registration = 'closed'
      const member = await addMember(closed, inviter, { role: 'viewer' })
      const { user } = (await member.call('GET', '/auth/profile')).json.data
      expect(user).toMatchObject({
        ...{ name: 'Grace', email: member.email, role: 'viewer' },
        vendor: { _id: inviter.id },
      })
      expect((await member.call('GET', '/auth/vendors')).json.data.vendors).toEqual([
        { _id: inviter.id, name: user.vendor.name, role: 'viewer', current: true },
      ])
      const { email_confirmed_at } = await closed.database.db
        .selectFrom('accounts')
        .select('email_confirmed_at')
        .where('id', '=', member.accountId)
        .executeTakeFirstOrThrow()
      expect(email_confirmed_at).toBeNull()
    } finally {
      await closed.close()
    }
  })

  test('with a known address takes its password, and signs in at the inviting vendor', async () => {
    const person = await signUp(on)
    const { token } = await invite(owner, { email: person.email, role: 'manager' })
    expect(refusal(await accept({ token, password: 'wrong' }))).toBe('invalid_credentials')
    expect(wrongFields(await accept({ token }))).toEqual(['password'])
    const { json } = await accept({ token, password: person.password })
    expect(json.data.user).toMatchObject({
      ...{ _id: person.accountId, role: 'manager' },
      vendor: { _id: owner.id },
    })
    expect(await openedBy(person)).toBe(owner.id)
    expect((await person.call('GET', '/auth/profile')).json.data.user.vendor._id).toBe(person.id)
  })

  test('tells who has the link nothing about the address, unless it creates the account', async () => {
    const known = await invite(owner, { email: (await signUp(on)).email })
    const unknown = await invite(owner)
    const wrong = { password: 'not the password' }
    const short = { name: 'Eve', password: 'short' }
    for (const body of [wrong, short]) {
      const answers = await Promise.all([known, unknown].map(({ token }) => accept({ token, ...body })))
      expect(answers[0]?.status).toBeGreaterThanOrEqual(400)
      expect(answers[0]?.raw.toString()).toBe(answers[1]?.raw.toString())
    }
    expect(refusal(await accept({ token: known.token, name: 'Eve', ...wrong }))).toBe('invalid_credentials')
    const { vendor } = (await accept({ token: unknown.token, name: 'Eve', ...wrong })).json.data.user
    expect(vendor._id).toBe(owner.id)
  })

  test('limits guesses of passwords like a sign-in, and guesses of tokens', async () => {
    const limited = await startServer({ RATE_LIMITS: 'on' })
    try {
      const [inviter, person] = [await signUp(limited), await signUp(limited)]
      const { token } = await invite(inviter, { email: person.email })
      const send = (body: object, from = '203.0.113.5') =>
        limited.call('POST', '/auth/invitations/accept', { body, from })
      for (let at = 0; at < 10; at += 1) {
        expect(refusal(await send({ token, password: 'wrong' }))).toBe('invalid_credentials')
      }
      expect(refusal(await send({ token, password: person.password }))).toBe('rate_limited')
      const credentials = { email: person.email, password: person.password }
      const signIn = await limited.call('POST', '/auth/login', { body: credentials, from: '203.0.113.5' })
      expect(refusal(signIn)).toBe('rate_limited')
      for (let at = 0; at < 30; at += 1) {
        const guess = await send({ token: `kwi_${at}`, password: 'x' }, '203.0.113.9')
        expect(refusal(guess)).toBe('invitation_invalid')
      }
      const right = await send({ token, password: person.password }, '203.0.113.9')
      expect(refusal(right)).toBe('rate_limited')
    } finally {
      await limited.close()
    }
  })

  test('by somebody who has become a member meanwhile is refused', async () => {
    const member = await addMember(on, owner)
    const moved = newAddress()
    const { token } = await invite(owner, { email: moved })
    const change = { email: moved, password: member.password }
    expect((await member.call('PUT', '/auth/email', change)).status).toBe(200)
    expect(refusal(await accept({ token, password: member.password }))).toBe('member_exists')
  })
})

test('a person belongs to 100 vendor accounts at most', async () => {
  const person = await signUp(on)
  const more = Array.from({ length: limits.vendorsMax - 1 }, (_, at) => `${person.id}_${at}`)
  await insertOwners(
    on.database.db,
    more.map((id) => ({ id, name: id, email: `${id}@example.com`, created_at: 1 })),
  )
  const membership = { account_id: person.accountId, email: null, email_normalized: null, apps: null }
  const open = { role: 'viewer', token_hash: null, token_expires_at: null, created_at: 1 } as const
  const rows = more.slice(1).map((id) => ({ id: `mem_${id}`, owner_id: id, ...membership, ...open }))
  await on.database.db.insertInto('members').values(rows).execute()
  const inviters = await Promise.all(Array.from({ length: 4 }, () => signUp(on)))
  const answers = await Promise.all(
    inviters.map(async (inviter) => {
      const { token } = await invite(inviter, { email: person.email })
      return accept({ token, password: person.password })
    }),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  for (const answer of answers) if (answer.status === 409) expect(refusal(answer)).toBe('vendors_full')
  expect(await vendorsOf(person.token)).toHaveLength(limits.vendorsMax)
})

describe('the vendor accounts of a person', () => {
  test('are its own first, then the others by name; each has its own session', async () => {
    const person = await signUp(on)
    const { token } = await addPerson(on, owner, person, { role: 'viewer' })
    const app = await makeApp(owner)
    const expected = [
      { _id: person.id, role: 'owner', current: true },
      { _id: owner.id, role: 'viewer', current: false },
    ]
    expect(await vendorsOf(person.token)).toMatchObject(expected)
    const switched = await open(person.token, owner.id)
    expect(switched.status).toBe(200)
    const next = switched.json.data.token
    expect((await on.call('GET', '/apps', { token: next })).json.data.apps).toMatchObject([{ _id: app._id }])
    expect((await person.call('GET', '/apps')).json.data.apps).toEqual([])
    expect(await openedBy(person)).toBe(owner.id)
    await open(token, person.id)
    expect(await openedBy(person)).toBe(person.id)
  })

  test('are not opened by ids of others or unknown ones', async () => {
    const stranger = await signUp(on)
    const [foreign, missing] = await Promise.all([
      open(owner.token, stranger.id),
      open(owner.token, `own_${'0'.repeat(32)}`),
    ])
    expect(refusal(foreign)).toBe('not_found')
    expect(foreign.raw.toString()).toBe(missing.raw.toString())
  })

  test('get no younger session by switching: it proves nothing again', async () => {
    const started = on.clock.now()
    on.clock.advance(hour)
    const { token } = (await open(owner.token, owner.id)).json.data
    const rows = on.database.db
      .selectFrom('owner_sessions')
      .selectAll()
      .where('account_id', '=', owner.accountId)
    for (const row of await rows.execute()) {
      expect(row).toMatchObject({ created_at: started, confirmed_at: started })
    }
    const reset = await on.call('POST', '/settings/reset', { token, body: {} })
    expect(refusal(reset)).toBe('reauthenticate')
  })

  test('can be left, which ends the sessions there, but neither the own one nor the last one', async () => {
    const person = await signUp(on)
    const { token } = await addPerson(on, owner, person)
    const leave = (by: string, id: string) => on.call('DELETE', `/auth/vendors/${id}`, { token: by })
    expect(refusal(await leave(person.token, person.id))).toBe('vendor_owned')
    expect(refusal(await leave(person.token, `own_${'0'.repeat(32)}`))).toBe('not_found')
    expect((await leave(person.token, owner.id)).status).toBe(200)
    expect(refusal(await on.call('GET', '/auth/profile', { token }))).toBe('unauthorized')
    expect(await vendorsOf(person.token)).toHaveLength(1)
    expect(await openedBy(person)).toBe(person.id)

    const member = await addMember(on, owner)
    expect(refusal(await leave(member.token, owner.id))).toBe('last_vendor')
    const other = await addPerson(on, await signUp(on), member)
    const ids = (await vendorsOf(member.token)).map(({ _id }: { _id: string }) => _id)
    const answers = await Promise.all(ids.map((id: string) => leave(other.token, id)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('count, with a new password, as one account', async () => {
    const person = await signUp(on)
    const { token } = await addPerson(on, owner, person)
    const body = { currentPassword: person.password, newPassword: 'a better horse' }
    const changed = await on.call('PUT', '/auth/password', { token, body })
    const { user } = (await on.call('GET', '/auth/profile', { token: changed.json.data.token })).json.data
    expect(user.vendor._id).toBe(owner.id)
    for (const ended of [token, person.token]) {
      expect(refusal(await on.call('GET', '/auth/profile', { token: ended }))).toBe('unauthorized')
    }
  })
})

describe('deleting an account', () => {
  const remove = (by: { token: string }, password: string) =>
    on.call('DELETE', '/auth/account', { token: by.token, body: { password } })
  const count = async (table: 'accounts' | 'owner_sessions', column: 'id' | 'account_id', id: string) =>
    (
      await on.database.db
        .selectFrom(table)
        .select('id')
        .where(column as 'id', '=', id)
        .execute()
    ).length

  test('takes the empty vendor account, memberships and sessions along, and leaves the records of others', async () => {
    const person = await signUp(on)
    const mate = await addMember(on, person)
    await addPerson(on, owner, person)
    expect(wrongFields(await remove(person, 'wrong'))).toEqual(['password'])
    expect((await remove(person, person.password)).status).toBe(200)
    expect(refusal(await person.call('GET', '/auth/profile'))).toBe('unauthorized')
    expect(refusal(await login(person))).toBe('invalid_credentials')
    expect(refusal(await mate.call('GET', '/auth/profile'))).toBe('unauthorized')
    expect(refusal(await login(mate))).toBe('no_vendor')
    expect((await owner.call('GET', '/members')).json.data.members).toEqual([])
    expect(await count('accounts', 'id', person.accountId)).toBe(0)
    expect(await count('owner_sessions', 'account_id', person.accountId)).toBe(0)
    const audit = (by: 'owner_id' | 'actor_id', id: string) =>
      on.database.db.selectFrom('audit').select('action').where(by, '=', id).orderBy('id').execute()
    expect(await audit('owner_id', person.id)).toEqual([])
    const kept = (await audit('actor_id', person.accountId)).map(({ action }) => action)
    expect(kept).toEqual(['member.joined', 'member.left', 'account.deleted'])
    const { status } = await on.call('POST', '/auth/register', {
      body: { ...person, name: 'Again' } as object,
    })
    expect(status).toBe(400)
    const body = { name: 'Again', email: person.email, password: person.password }
    expect((await on.call('POST', '/auth/register', { body })).status).toBe(201)
  })

  test('is refused while it owns an app or expects a payment', async () => {
    const app = await makeApp(owner)
    expect(refusal(await remove(owner, owner.password))).toBe('account_owns_apps')
    await owner.call('DELETE', `/apps/${app._id}`)
    expect((await owner.call('POST', '/payments/razorpay/create-order', {})).status).toBe(200)
    expect(refusal(await remove(owner, owner.password))).toBe('payment_pending')
    on.clock.advance(day)
    expect((await remove(owner, owner.password)).status).toBe(200)
  })

  test('leaves no app behind that is created at the same time', async () => {
    const [removed, created] = await Promise.all([
      remove(owner, owner.password),
      owner.call('POST', '/apps', { name: 'Late' }),
    ])
    const apps = await on.database.db
      .selectFrom('apps')
      .select('id')
      .where('owner_id', '=', owner.id)
      .execute()
    expect(apps).toHaveLength(removed.status === 200 ? 0 : 1)
    expect([200, 409]).toContain(removed.status)
    expect([201, 401, 404]).toContain(created.status)
  })

  test('is possible for a member who owns nothing', async () => {
    const member = await addMember(on, owner)
    expect((await remove(member, member.password)).status).toBe(200)
    expect((await owner.call('GET', '/members')).json.data.members).toEqual([])
    on.clock.advance(minute)
    expect(refusal(await login(member))).toBe('invalid_credentials')
  })
})

test('a person who has left is named in no further record of the vendor', async () => {
  const person = await signUp(on)
  const { _id } = await addPerson(on, owner, person)
  await owner.call('DELETE', `/members/${_id}`)
  expect(await resetOwnerPassword(on.database, on.clock, person.email)).toBeDefined()
  const records = (id: string) =>
    on.database.db.selectFrom('audit').select('action').where('owner_id', '=', id).orderBy('id').execute()
  expect((await records(owner.id)).at(-1)).toEqual({ action: 'member.removed' })
  expect((await records(person.id)).at(-1)).toEqual({ action: 'owner.password_reset' })
})

test('a person without a vendor account can choose a password and accept another invitation', async () => {
  const member = await addMember(on, owner)
  await owner.call('DELETE', `/members/${member._id}`)
  const another = await signUp(on)
  const back = await addPerson(on, another, member)
  expect((await on.call('GET', '/auth/profile', { token: back.token })).json.data.user.vendor._id).toBe(
    another.id,
  )
})
